CREATE TABLE t(x);
INSERT INTO t VALUES ('plain'), (' lead and tail '), ('a,b'), ('say "hi"'), ('"'), ('""'), (''''), ('two' || char(10) || 'lines'),
  ('cr' || char(13) || char(10)), (char(9)), (char(8) || char(12) || char(11) || char(27) || char(1) || char(31)), (char(127)),
  ('back\slash'), ('\'), ('\.'), ('\N'), ('#1'), ('//x'), ('--'), (';'), ('true'), ('0000000000000001'), ('1e3'), ('+5'), ('0x10'),
  ('2.50'), ('Infinity'), ('9.0e+999'), ('naïve größe'), ('ключ'), ('日本語'), ('é😀'), ('8 bytes.'), ('exactly sixteen.'), ('seventeen bytes"!'),
  (char(133, 160, 8232, 8233, 65279)), (char(65533)), (char(1114111)), ('{"$text": "x"}');
