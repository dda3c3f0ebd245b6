/*
 * publish_formats: a run as text, as each target wants it.
 */
#ifndef PUBLISH_FORMATS_H
#define PUBLISH_FORMATS_H

#include "publish_record.h"

#include "profrig/config/publishconf.h"

/*
 * One line without its end, owned: _id (the run's id), run, model, campaign, cell, repeat, block,
 * labels[{name value}], status, reason, exit_code, signal, started_utc, ended_utc, host, engine,
 * image, image_digest, devices[], tools[], durations_s{}, metrics[{name key unit value}],
 * metrics_left_out, profrig. What is not known is null. No key is a workload's, as a key such as
 * "$oid" has a meaning for mongoimport.
 */
char *publish_json_line(const struct publish_record *rec, size_t *ret_n);
/* Its parts: [{name key unit value}], {name: value}, {part: seconds}, ["…"]. Owned. */
char *publish_json_metrics(const struct publish_record *rec);
char *publish_json_labels(const struct publish_record *rec);
char *publish_json_durations(const struct publish_record *rec);
char *publish_json_words(const struct strvec *words);

/* Line protocol of InfluxDB: a point of profrig_run, and one of profrig_metric for each metric. */
char *publish_influx_text(const struct publish_record *rec);
/* Prometheus' text format 0.0.4, and the path of the run's group in a Pushgateway. */
char *publish_prometheus_text(const struct publish_record *rec);
char *publish_prometheus_path(const struct publish_target *t, const struct publish_record *rec);

#endif
