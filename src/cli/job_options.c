/* SPDX-License-Identifier: MIT
 *
 * job_options: see the header.
 */
#include "job_options.h"

#include <errno.h>
#include <stdlib.h>

enum exit_code job_options_number(
        const struct invocation *invocation, const char *name, int64_t *ret_number)
{
        const char *text = invocation_option(invocation, name);
        char *end;
        *ret_number = CDC_UNSET;
        if (!text)
                return EXIT_OK;
        errno = 0;
        long long number = strtoll(text, &end, 10);
        if (errno || end == text || *end || number == CDC_UNSET)
                return invocation_refuse(
                        invocation->command, "%s takes a whole number, not '%s'", name, text);
        *ret_number = number;
        return EXIT_OK;
}

enum exit_code job_options_read(
        const struct invocation *invocation, const char *type, struct cdc_job *ret_job)
{
        struct cdc_job job = CDC_JOB_UNSET(type);
        const struct {
                const char *name;
                int64_t *parameter;
        } parameters[] = {
                {"--maxtrans", &job.maxtrans},
                {"--maxscans", &job.maxscans},
                {"--continuous", &job.continuous},
                {"--pollinginterval", &job.pollinginterval},
                {"--retention", &job.retention},
                {"--threshold", &job.threshold},
        };
        for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++) {
                enum exit_code code =
                        job_options_number(invocation, parameters[i].name, parameters[i].parameter);
                if (code != EXIT_OK)
                        return code;
        }
        *ret_job = job;
        return EXIT_OK;
}
