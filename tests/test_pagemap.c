/* SPDX-License-Identifier: MIT */
#include "image.h"
#include "meaning/pagemap.h"
#include "prng.h"

enum { TREE = 7, OTHER = 8 };

static bool same_owner(struct pagemap_owner a, struct pagemap_owner b)
{
        return a.tree == b.tree && a.kind == b.kind && a.parent == b.parent;
}

static unsigned count_pages(const struct pagemap *map, uint16_t tree)
{
        unsigned count = 0;
        for (uint32_t pgno = 0; pgno < map->chunk_count * 4096; pgno++)
                count += pagemap_get(map, pgno).tree == tree;
        return count;
}

Test(pagemap, an_empty_map_owns_nothing)
{
        struct pagemap map = {0};
        cr_expect_eq(pagemap_get(&map, 0).tree, 0);
        cr_expect_eq(pagemap_get(&map, UINT32_MAX).kind, PAGEMAP_NONE);
        pagemap_clear(&map, TREE, 5);
        pagemap_forget_tree(&map, TREE);
        pagemap_release(&map);
        pagemap_release(&map);
}

Test(pagemap, owners_are_kept_for_any_page_number)
{
        static const uint32_t pages[] = {1, 2, 4095, 4096, 4097, 8191, 8192, 1000000, 4294967294};
        struct pagemap map = {0};
        for (uint32_t i = 0; i < COUNT(pages); i++) {
                struct pagemap_owner owner = {.parent = i, .tree = TREE, .kind = PAGEMAP_LEAF};
                cr_assert_eq(pagemap_set(&map, pages[i], owner), 0);
        }
        for (uint32_t i = 0; i < COUNT(pages); i++) {
                struct pagemap_owner owner = pagemap_get(&map, pages[i]);
                cr_expect_eq(owner.tree, TREE, "%u", pages[i]);
                cr_expect_eq(owner.parent, i, "%u", pages[i]);
        }
        cr_expect_eq(pagemap_get(&map, 3).tree, 0);
        cr_expect_eq(pagemap_get(&map, 4294967295).tree, 0);
        pagemap_release(&map);
}

Test(pagemap, a_page_is_cleared_for_its_own_tree_only)
{
        struct pagemap map = {0};
        struct pagemap_owner mine = {.parent = 3, .tree = TREE, .kind = PAGEMAP_LEAF};
        struct pagemap_owner others = {.parent = 4, .tree = OTHER, .kind = PAGEMAP_INTERIOR};
        pagemap_set(&map, 10, mine);
        pagemap_set(&map, 5000, others);
        pagemap_clear(&map, OTHER, 10);
        cr_expect(same_owner(pagemap_get(&map, 10), mine));
        pagemap_clear(&map, TREE, 10);
        cr_expect_eq(pagemap_get(&map, 10).tree, 0);
        cr_expect_eq(pagemap_get(&map, 10).kind, PAGEMAP_NONE);
        pagemap_set(&map, 10, mine);
        pagemap_forget_tree(&map, TREE);
        cr_expect_eq(pagemap_get(&map, 10).tree, 0);
        cr_expect(same_owner(pagemap_get(&map, 5000), others));
        pagemap_release(&map);
}

/* ---- built from databases, beside what SQLite says of its own pages ---- */

/* Pages of a tree by dbstat: the number of its pages, and of those with some kind. */
static unsigned stat_count(sqlite3 *db, const char *table, const char *type)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        sqlite3_prepare_v2(db, "SELECT count(*) FROM dbstat WHERE name = ?1 AND pagetype = ?2", -1,
                &stmt, NULL);
        sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC);
        sqlite3_bind_text(stmt, 2, type, -1, SQLITE_STATIC);
        cr_assert_eq(sqlite3_step(stmt), SQLITE_ROW);
        return (unsigned)sqlite3_column_int(stmt, 0);
}

/* Path of the page that this page hangs on, by dbstat: /1c2/00a+000001 hangs on /1c2/00a+000000,
 * and that one on /1c2/00a/, as pages below /1c2/ hang on it. */
static void parent_path(const char *path, char *ret_path, size_t size)
{
        snprintf(ret_path, size, "%s", path);
        char *plus = strchr(ret_path, '+'), *end = ret_path + strlen(ret_path);
        if (plus && strcmp(plus, "+000000") != 0) {
                strcpy(plus, "+000000");
                return;
        }
        if (plus)
                end = strrchr(ret_path, '/') + 1;
        else
                for (end--; end > ret_path && end[-1] != '/'; end--)
                        ;
        *end = '\0';
}

static uint32_t page_at(sqlite3 *db, const char *table, const char *path)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        sqlite3_prepare_v2(
                db, "SELECT pageno FROM stat WHERE name = ?1 AND path = ?2", -1, &stmt, NULL);
        sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC);
        sqlite3_bind_text(stmt, 2, path, -1, SQLITE_STATIC);
        return sqlite3_step(stmt) == SQLITE_ROW ? (uint32_t)sqlite3_column_int64(stmt, 0) : 0;
}

static enum pagemap_kind kind_of(const char *type, const char *path)
{
        if (strcmp(type, "overflow") == 0)
                return strstr(path, "+000000") ? PAGEMAP_OVERFLOW_FIRST : PAGEMAP_OVERFLOW_LATER;
        return strcmp(type, "leaf") == 0 ? PAGEMAP_LEAF : PAGEMAP_INTERIOR;
}

static void expect_as_stat(sqlite3 *db, const char *table, const struct pagemap *map, uint16_t tree)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        unsigned count = 0;
        sqlite3_prepare_v2(
                db, "SELECT pageno, pagetype, path FROM stat WHERE name = ?1", -1, &stmt, NULL);
        sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC);
        for (; sqlite3_step(stmt) == SQLITE_ROW; count++) {
                uint32_t pgno = (uint32_t)sqlite3_column_int64(stmt, 0);
                const char *type = (const char *)sqlite3_column_text(stmt, 1);
                const char *path = (const char *)sqlite3_column_text(stmt, 2);
                char above[300];
                parent_path(path, above, sizeof(above));
                struct pagemap_owner want = {.tree = tree, .kind = kind_of(type, path)};
                if (strcmp(path, "/") != 0)
                        want.parent = page_at(db, table, above);
                cr_expect(same_owner(pagemap_get(map, pgno), want), "page %u, %s: %u", pgno, path,
                        pagemap_get(map, pgno).parent);
        }
        cr_expect_eq(count_pages(map, tree), count, "%s: no other page", table);
}

static void fill(sqlite3 *db, uint32_t page_size)
{
        image_run(db, "CREATE TABLE t(a, b); CREATE TABLE u(a, b); CREATE INDEX ub ON u(b);"
                      "CREATE TABLE empty(a)");
        image_run_format(db,
                "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
                "INSERT INTO t SELECT i, CASE WHEN i %% 50 = 0 THEN randomblob(%u * (i %% 7)) "
                "ELSE randomblob(20) END FROM n;"
                "INSERT INTO u SELECT a, hex(b) FROM t WHERE a %% 3 = 0;"
                "DELETE FROM t WHERE a %% 11 = 0",
                page_size);
        image_run(db, "CREATE TEMP TABLE stat AS SELECT * FROM dbstat;"
                      "CREATE INDEX temp.bypath ON stat(name, path)");
}

Test(pagemap, a_built_tree_holds_what_sqlite_says)
{
        static const struct {
                uint32_t page_size;
                int reserved;
        } cases[] = {{512, 0}, {512, 32}, {1024, 0}, {4096, 8}, {65536, 0}};
        for (size_t i = 0; i < COUNT(cases); i++) {
                _cleanup_sqlite_ sqlite3 *db = image_open(cases[i].page_size, cases[i].reserved);
                struct image image = {0};
                struct pagemap map = {0};
                fill(db, cases[i].page_size);
                image_take(&image, db);
                struct btpage_source source = image_source(&image);
                static const char *const tables[] = {"sqlite_schema", "t", "u", "empty"};
                for (uint16_t k = 0; k < COUNT(tables); k++) {
                        uint32_t root = k == 0 ? 1 : image_root(db, tables[k]);
                        cr_assert_eq(pagemap_build_tree(&map, k + 1, root, &source), 0);
                }
                for (uint16_t k = 0; k < COUNT(tables); k++)
                        expect_as_stat(db, tables[k], &map, k + 1);
                cr_expect_gt(stat_count(db, "t", "overflow"), 100);
                pagemap_forget_tree(&map, 2);
                cr_expect_eq(count_pages(&map, 2), 0);
                expect_as_stat(db, "u", &map, 3);
                pagemap_release(&map);
                image_release(&image);
        }
}

/* ---- hostile trees ---- */

enum { PAGE = 512, PAGES = 60 };

static void chain(struct image *image, uint32_t from, uint32_t to)
{
        for (uint32_t pgno = from; pgno < to; pgno++)
                put_be32(image_page(image, pgno), pgno + 1);
}

static void make_deep(struct image *image, uint32_t levels)
{
        for (uint32_t pgno = 2; pgno < 1 + levels; pgno++)
                image_put_interior(image, pgno, (uint32_t[]){pgno + 1}, 1);
        image_put_leaf(image, 1 + levels, (uint8_t[]){1}, 1);
}

static void make_20_levels(struct image *image)
{
        make_deep(image, 20);
}

static void make_21_levels(struct image *image)
{
        make_deep(image, 21);
}

static void make_own_child(struct image *image)
{
        image_put_interior(image, 2, (uint32_t[]){3, 2}, 2);
        image_put_leaf(image, 3, (uint8_t[]){1}, 1);
}

static void make_loop(struct image *image)
{
        image_put_interior(image, 2, (uint32_t[]){3, 4}, 2);
        image_put_interior(image, 3, (uint32_t[]){2, 4}, 2);
        image_put_leaf(image, 4, (uint8_t[]){1}, 1);
}

static void make_child_twice(struct image *image)
{
        image_put_interior(image, 2, (uint32_t[]){3, 4, 3}, 3);
        image_put_leaf(image, 3, (uint8_t[]){1}, 1);
        image_put_leaf(image, 4, (uint8_t[]){2}, 1);
}

static void make_child_beyond(struct image *image)
{
        image_put_interior(image, 2, (uint32_t[]){3, PAGES + 1}, 2);
        image_put_leaf(image, 3, (uint8_t[]){1}, 1);
}

static void make_child_zero(struct image *image)
{
        image_put_interior(image, 2, (uint32_t[]){3, 0}, 2);
        image_put_leaf(image, 3, (uint8_t[]){1}, 1);
}

static void make_index_leaf(struct image *image)
{
        image_put_interior(image, 2, (uint32_t[]){3, 4}, 2);
        image_put_leaf(image, 3, (uint8_t[]){1}, 1);
        image_put_leaf(image, 4, NULL, 0);
        image_page(image, 4)[0] = BTPAGE_INDEX_LEAF;
}

static void make_index_root(struct image *image)
{
        image_put_interior(image, 2, (uint32_t[]){3}, 1);
        image_page(image, 2)[0] = BTPAGE_INDEX_INTERIOR;
        image_put_leaf(image, 3, (uint8_t[]){1}, 1);
}

static void make_index(struct image *image)
{
        make_index_root(image);
        image_page(image, 3)[0] = BTPAGE_INDEX_LEAF;
}

static void make_zero_child(struct image *image)
{
        image_put_interior(image, 2, (uint32_t[]){3, 4}, 2);
        image_put_leaf(image, 3, (uint8_t[]){1}, 1);
}

static void make_others_page(struct image *image)
{
        image_put_interior(image, 2, (uint32_t[]){3, 50}, 2);
        image_put_leaf(image, 3, (uint8_t[]){1}, 1);
}

static void make_chain(struct image *image)
{
        image_put_big_row(image, 2, 1, 4 * 508 + 100, 10);
        chain(image, 10, 14);
}

static void make_chain_loop(struct image *image)
{
        make_chain(image);
        put_be32(image_page(image, 12), 10);
}

static void make_chain_to_root(struct image *image)
{
        make_chain(image);
        put_be32(image_page(image, 12), 2);
}

static void make_chain_beyond(struct image *image)
{
        make_chain(image);
        put_be32(image_page(image, 11), PAGES + 1);
}

static void make_chain_short(struct image *image)
{
        make_chain(image);
        put_be32(image_page(image, 11), 0);
}

static void make_chain_shared(struct image *image)
{
        make_chain(image);
        memcpy(image_page(image, 3), image_page(image, 2), PAGE);
        image_put_interior(image, 2, (uint32_t[]){3, 4}, 2);
        image_put_big_row(image, 4, 2, 508 + 100, 13);
}

static void make_chain_of_another(struct image *image)
{
        make_chain(image);
        put_be32(image_page(image, 12), 50);
}

static void make_chain_of_one(struct image *image)
{
        image_put_big_row(image, 2, 1, 508, PAGES + 5);
}

static void make_good(struct image *image)
{
        image_put_interior(image, 2, (uint32_t[]){3, 4}, 2);
        image_put_leaf(image, 3, (uint8_t[]){1}, 1);
        image_put_big_row(image, 4, 2, 4 * 508 + 100, 10);
        chain(image, 10, 14);
}

static const struct {
        const char *name;
        void (*make)(struct image *image);
        int result;
        unsigned pages; /* entered */
} hostile[] = {
        {"a good tree", make_good, 0, 3 + 4},
        {"20 levels", make_20_levels, 0, 20},
        {"21 levels", make_21_levels, -EBADMSG, 0},
        {"a page that is its own child", make_own_child, -EBADMSG, 0},
        {"a loop", make_loop, -EBADMSG, 0},
        {"a child twice", make_child_twice, -EBADMSG, 0},
        {"a child beyond the end", make_child_beyond, -EBADMSG, 0},
        {"child 0", make_child_zero, -EBADMSG, 0},
        {"an index page under a table", make_index_leaf, -EBADMSG, 0},
        {"an index", make_index, 0, 2},
        {"a table under an index", make_index_root, -EBADMSG, 0},
        {"a child that is no b-tree page", make_zero_child, -EBADMSG, 0},
        {"a page of another tree", make_others_page, -EBADMSG, 0},
        {"a good chain", make_chain, 0, 1 + 4},
        {"a chain that bites itself", make_chain_loop, -EBADMSG, 0},
        {"a chain that goes to the root", make_chain_to_root, -EBADMSG, 0},
        {"a chain that goes beyond the end", make_chain_beyond, -EBADMSG, 0},
        {"a chain that ends early", make_chain_short, -EBADMSG, 0},
        {"a chain of two rows", make_chain_shared, -EBADMSG, 0},
        {"a chain that goes into another tree", make_chain_of_another, -EBADMSG, 0},
        {"a chain that begins beyond the end", make_chain_of_one, -EBADMSG, 0},
};

Test(pagemap, a_hostile_tree_is_refused_and_leaves_nothing_behind)
{
        for (size_t i = 0; i < COUNT(hostile); i++) {
                struct image image;
                struct pagemap map = {0};
                image_make(&image, PAGE, PAGES);
                image_put_leaf(&image, 50, (uint8_t[]){1}, 1);
                hostile[i].make(&image);
                struct btpage_source source = image_source(&image);
                cr_assert_eq(pagemap_build_tree(&map, OTHER, 50, &source), 0);
                cr_expect_eq(pagemap_build_tree(&map, TREE, 2, &source), hostile[i].result, "%s",
                        hostile[i].name);
                cr_expect_eq(count_pages(&map, TREE), hostile[i].pages, "%s", hostile[i].name);
                cr_expect_eq(count_pages(&map, OTHER), 1, "%s", hostile[i].name);
                cr_expect_eq(pagemap_get(&map, 50).tree, OTHER, "%s", hostile[i].name);
                pagemap_release(&map);
                image_release(&image);
        }
}

Test(pagemap, a_root_that_is_not_there_is_refused)
{
        static const uint32_t roots[] = {0, PAGES + 1, UINT32_MAX};
        struct image image;
        struct pagemap map = {0};
        image_make(&image, PAGE, PAGES);
        struct btpage_source source = image_source(&image);
        for (size_t i = 0; i < COUNT(roots); i++)
                cr_expect_eq(pagemap_build_tree(&map, TREE, roots[i], &source), -EBADMSG);
        cr_expect_eq(count_pages(&map, TREE), 0);
        pagemap_release(&map);
        image_release(&image);
}

static int read_fails(void *context, uint32_t pgno, uint8_t *ret_page)
{
        return pgno == 12 ? -EIO : image_read(context, pgno, ret_page);
}

Test(pagemap, an_error_of_reading_comes_back_and_leaves_nothing_behind)
{
        struct image image;
        struct pagemap map = {0};
        image_make(&image, PAGE, PAGES);
        make_good(&image);
        struct btpage_source source = image_source(&image);
        source.read = read_fails;
        cr_expect_eq(pagemap_build_tree(&map, TREE, 2, &source), -EIO);
        cr_expect_eq(count_pages(&map, TREE), 0);
        pagemap_release(&map);
        image_release(&image);
}

Test(pagemap, random_bytes_build_a_tree_or_nothing)
{
        _cleanup_sqlite_ sqlite3 *db = image_open(512, 0);
        struct prng prng = {3};
        struct image image = {0};
        unsigned good = 0;
        image_run(db, "CREATE TABLE t(a); WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL "
                      "SELECT i + 1 FROM n WHERE i < 800) INSERT INTO t SELECT "
                      "randomblob(CASE WHEN i % 20 = 0 THEN 1500 ELSE 20 END) FROM n");
        for (unsigned round = 0; round < 2000; round++) {
                struct pagemap map = {0};
                image_take(&image, db);
                for (unsigned flips = 1 + prng_below(&prng, 6); flips > 0; flips--)
                        image_page(&image,
                                1 + prng_below(&prng, image.pages))[prng_below(&prng, 32)] ^=
                                (uint8_t)(1u << prng_below(&prng, 8));
                struct btpage_source source = image_source(&image);
                int r = pagemap_build_tree(&map, TREE, 2, &source);
                cr_assert(r == 0 || r == -EBADMSG, "%d", r);
                cr_assert_eq(count_pages(&map, TREE) > 0, r == 0);
                good += r == 0;
                pagemap_release(&map);
        }
        cr_expect(good > 100 && good < 1900, "%u", good);
        image_release(&image);
}
