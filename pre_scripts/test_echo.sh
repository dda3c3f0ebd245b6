#!/bin/sh
echo "$1"
echo "$1" >>"$PROFRIG_OUT/said.txt"
