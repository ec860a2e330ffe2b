// Runs the statements of a JSON list on stdin in one database of DuckDB, in memory, and prints the
// rows of the last one as JSON: each an object, values that JSON has no form for as text.
const {DuckDBInstance} = require('@duckdb/node-api');

async function main() {
  let text = '';
  for await (const part of process.stdin) text += part;
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  let rows = [];
  for (const statement of JSON.parse(text)) {
    const reader = await connection.runAndReadAll(statement);
    rows = reader.getRowObjectsJson();
  }
  process.stdout.write(JSON.stringify(rows));
}

main().catch((error) => {
  process.stderr.write(String(error) + '\n');
  process.exit(1);
});
