# trace_pandas.py TRACE: what holistic analyses of a PyTorch trace do by their documentation, with json and pandas: the time
# of a device as compute, non-compute and idle; kernels by kind and by name; why queues were idle; communication behind
# computation. Written for the bench, which compares its time with that of profrig; prints a digest of its results.
import gzip, json, sys

import numpy as np
import pandas as pd

KERNEL_WAIT_US = 0.03  # between two kernels that follow each other without a pause


def read(path):
    with (gzip.open if path.endswith('.gz') else open)(path, 'rt') as f:
        events = json.load(f)['traceEvents']
    df = pd.DataFrame([e for e in events if e.get('ph') == 'X'])
    args = pd.DataFrame([{k: a.get(k) for k in ('correlation', 'stream', 'device')} if isinstance(a, dict) else {} for a in df['args']])
    df = df.drop(columns='args')
    for k in args:
        df[k] = pd.to_numeric(args[k], errors='coerce').fillna(-1).astype('int64').values
    df['ts'] = df['ts'].astype('float64')
    df['dur'] = df['dur'].astype('float64')
    df['end'] = df['ts'] + df['dur']
    return df.drop(columns=['ph'])


def kind_of(name):
    if 'nccl' in name.lower():
        return 'communication'
    return 'memory' if name.startswith(('Memcpy', 'Memset')) else 'compute'


def merged(df):
    """The union of intervals, as a frame of disjoint ones."""
    df = df.sort_values('ts')
    group = (df['ts'] > df['end'].cummax().shift()).cumsum()
    return df.groupby(group).agg({'ts': 'min', 'end': 'max'})


def length(iv):
    return float((iv['end'] - iv['ts']).sum())


def common(a, b):
    """The length of what two unions share: where two intervals are open at once."""
    edges = pd.concat([pd.DataFrame({'t': x[c], 'by': by}) for x in (a, b) for c, by in (('ts', 1), ('end', -1))]).sort_values(['t', 'by'])
    both = edges['by'].cumsum().values[:-1] == 2
    return float(np.diff(edges['t'].values)[both].sum())


def main(path):
    df = read(path)
    work = df[df['stream'] >= 0].copy()
    work['kind'] = work['name'].map({n: kind_of(n) for n in work['name'].unique()})
    print('time')
    for device, w in work.groupby('device'):
        wall, busy = w['end'].max() - w['ts'].min(), length(merged(w))
        compute = length(merged(w[w['kind'] == 'compute']))
        print(device, round(compute, 3), round(busy - compute, 3), round(wall - busy, 3))
    print('kinds')
    print(work.groupby(['device', 'kind'])['dur'].sum().round(3).to_string())
    print('kernels')
    kernels = work.groupby(['device', 'kind', 'name'])['dur'].agg(['sum', 'max', 'min', 'mean', 'std', 'count'])
    print(kernels.sort_values('sum', ascending=False).head(20).round(3).to_string())
    print('idle')
    calls = df[df['cat'].isin(['cuda_runtime', 'cuda_driver'])][['correlation', 'ts']].rename(columns={'ts': 'launch'})
    q = work.merge(calls.drop_duplicates('correlation'), on='correlation', how='left').sort_values(['device', 'stream', 'ts'])
    before = q.groupby(['device', 'stream'])['end'].shift()
    gap = q['ts'] - before
    cause = np.where(q['launch'] > before, 'host wait', np.where(gap < KERNEL_WAIT_US, 'kernel wait', 'other'))
    idle = q.assign(gap=gap, cause=cause)[gap > 0]
    print(idle.groupby(['device', 'stream', 'cause'])['gap'].agg(['count', 'sum', 'mean', 'median']).round(3).to_string())
    print('overlap')
    for device, w in work.groupby('device'):
        comm, comp = merged(w[w['kind'] == 'communication']), merged(w[w['kind'] == 'compute'])
        if len(comm):
            print(device, round(common(comm, comp) / length(comm), 6))


main(sys.argv[1])
