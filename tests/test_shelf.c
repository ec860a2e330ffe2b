/* SPDX-License-Identifier: MIT */
#include "faces/shelf.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tmp.h"

enum { SIZE = 100000 };

static struct shelf_piece *put(struct shelf *shelf, char letter)
{
        static char bytes[SIZE];
        struct shelf_piece *piece = calloc(1, sizeof *piece);
        if (shelf_wants_spool(shelf)) {
                struct shelf_spool *spool = NULL;
                cr_assert_eq(shelf_open_spool(shelf, &spool), 0);
                shelf_give_spool(shelf, spool);
        }
        shelf_place(shelf, piece, SIZE);
        memset(bytes, letter, SIZE);
        cr_assert_eq(shelf_write(piece, bytes), 0);
        shelf_add(piece);
        return piece;
}

static void expect_bytes(const struct shelf_piece *piece, char letter)
{
        char bytes[3] = "";
        cr_assert_eq(shelf_read(piece, SIZE - 2, bytes, 2), 0);
        cr_expect(bytes[0] == letter && bytes[1] == letter);
}

static void clear(struct shelf *shelf)
{
        while (shelf->newest) {
                struct shelf_piece *piece = shelf->newest;
                shelf_remove(piece);
                shelf_free_pieces(piece);
        }
        shelf_unref_spool(shelf->spool);
}

static unsigned count_surplus(struct shelf *shelf)
{
        unsigned count = 0;
        struct shelf_piece *surplus = shelf_take_surplus(shelf);
        for (struct shelf_piece *piece = surplus; piece; piece = piece->older)
                count++;
        shelf_free_pieces(surplus);
        return count;
}

Test(shelf, the_least_recently_used_pieces_go_and_the_others_stay_whole)
{
        struct tmp tmp;
        tmp_open(&tmp);
        for (int is_disk = 0; is_disk < 2; is_disk++) {
                struct shelf shelf = {
                        .directory = is_disk ? tmp.directory : NULL, .budget = 3 * SIZE};
                struct shelf_piece *a = put(&shelf, 'a'), *b = put(&shelf, 'b');
                struct shelf_piece *c = put(&shelf, 'c');
                cr_expect_eq(count_surplus(&shelf), 0);
                shelf_touch(a);
                put(&shelf, 'd');
                put(&shelf, 'e');
                cr_expect_eq(shelf.bytes, 5 * SIZE);
                c->users = 1;
                cr_expect_eq(count_surplus(&shelf), 2, "b, and a as c is being read");
                cr_expect_eq(shelf.bytes, 3 * SIZE);
                expect_bytes(c, 'c');
                expect_bytes(shelf.newest, 'e');
                expect_bytes(shelf.newest->older, 'd');
                (void)b;
                clear(&shelf);
        }
        tmp_close(&tmp);
}

Test(shelf, the_newest_stays_whatever_its_size_and_kept_ones_count_in_no_budget)
{
        struct shelf shelf = {.budget = 1};
        struct shelf_piece *a = put(&shelf, 'a');
        cr_expect_eq(count_surplus(&shelf), 0);
        shelf_keep(a, true);
        cr_expect_eq(shelf.bytes, 0);
        cr_expect_eq(shelf.kept_bytes, SIZE);
        put(&shelf, 'b');
        put(&shelf, 'c');
        cr_expect_eq(count_surplus(&shelf), 1);
        expect_bytes(a, 'a');
        shelf_keep(a, false);
        cr_expect_eq(shelf.kept_bytes, 0);
        cr_expect_eq(count_surplus(&shelf), 1);
        expect_bytes(a, 'a');
        clear(&shelf);
}

/* The bytes on a disk that files of ours without a name in a directory take. */
static uint64_t room_taken(const char *directory)
{
        uint64_t room = 0;
        for (int fd = 3; fd < 100; fd++) {
                char link[64], path[600] = "";
                struct stat info;
                snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
                if (readlink(link, path, sizeof path - 1) > 0 && fstat(fd, &info) == 0 &&
                        strncmp(path, directory, strlen(directory)) == 0)
                        room += (uint64_t)info.st_blocks * 512;
        }
        return room;
}

Test(shelf, gives_the_room_of_what_went_back)
{
        struct tmp tmp;
        tmp_open(&tmp);
        struct shelf shelf = {.directory = tmp.directory, .budget = 2 * SIZE};
        for (int i = 0; i < 100; i++) {
                put(&shelf, 'x');
                count_surplus(&shelf);
        }
        cr_expect_eq(shelf.bytes, 2 * SIZE);
        expect_bytes(shelf.newest, 'x');
        uint64_t room = room_taken(tmp.directory);
        cr_expect(room >= 2 * SIZE && room < 10 * SIZE, "%llu", (unsigned long long)room);
        clear(&shelf);
        tmp_close(&tmp);
}
