/*
 * mail: `profrig report --format mail`. Private to cli.
 */
#ifndef PROFRIG_MAIL_H
#define PROFRIG_MAIL_H

#include "cli.h"

/*
 * Run directories and CSV tables into one HTML file for mail programs. output NULL: beside the one
 * input, or ./mail.html for several. Prints its path; exit code (4: cannot be written, 5: an input
 * cannot be read).
 */
int report_mail(const struct strvec *inputs, const char *output);

#endif
