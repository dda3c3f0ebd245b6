// A small training job of two ranks as PyTorch's profiler writes it, made anew each time, and what `profrig analyze` makes of it:
// ROOT/work. Numbers come from a fixed sequence, so that every run has the same page. many: a rank whose queue has so many kernels.

import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';

const PROFRIG = resolve(process.env.B || 'build', 'profrig');
export const HOSTILE = '<img src=x onerror="document.title=\'owned\'">';

export function dice(seed) {
  let x = seed;
  return (n) => {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    return Math.floor((x / 2 ** 32) * n);
  };
}

// Times in µs, as the format has them.
class Rank {
  constructor(rank, seed) {
    Object.assign(this, { rank, roll: dice(seed), events: [], id: 1000 * (rank + 1), host: 0, free: 0, pid: 100 + rank, held: 0, address: 1 });
  }

  put(e) {
    this.events.push({ ph: 'X', pid: this.pid, tid: this.pid, ...e });
  }

  // One operator that launches one kernel.
  op(name, args, kernel, us, extra = {}, stream = 7) {
    const start = this.host;
    const id = this.id++;
    this.put({ cat: 'cpu_op', name, ts: start, dur: 14, args: { 'External id': id, ...args } });
    this.put({ cat: 'cuda_runtime', name: 'cudaLaunchKernel', ts: start + 3, dur: 6, args: { correlation: id, 'External id': id } });
    const at = Math.max(start + 9, this.free);
    this.put({ cat: 'kernel', name: kernel, pid: this.rank, tid: stream, ts: at, dur: us, args: { correlation: id, 'External id': id, device: this.rank, stream, grid: [64, 1, 1], block: [256, 1, 1], ...extra } });
    if (stream === 7) this.free = at + us;
    this.host = start + 16;
    return at;
  }

  memory(bytes, address) {
    this.held += bytes;
    this.events.push({ ph: 'i', s: 't', cat: 'cpu_instant_event', name: '[memory]', pid: this.pid, tid: this.pid, ts: this.host,
      args: { 'Device Type': 1, 'Device Id': this.rank, Addr: address, Bytes: bytes, 'Total Allocated': this.held, 'Total Reserved': 1 << 28 } });
  }

  step(k) {
    const from = this.host;
    const slow = k === 7 ? 900 : 0;
    this.put({ cat: 'user_annotation', name: 'enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__', ts: this.host + 1, dur: 300 + slow });
    this.host += 310 + slow;
    const held = [];
    for (let layer = 0; layer < 4; layer++) {
      const bytes = (layer + 1) << 20;
      held.push([bytes, this.address]);
      this.memory(bytes, this.address++);
      this.op('aten::mm', { 'Input Dims': [[4096, 1024], [1024, 1024]], 'Input type': ['float', 'float'], 'Input Strides': [[1024, 1], [1024, 1]], 'Concrete Inputs': ['', ''] },
        'ampere_sgemm_128x64_tn', 700 + this.roll(40));
      this.op('aten::add', { 'Input Dims': [[4096, 1024], [4096, 1024], []], 'Input type': ['float', 'float', 'Scalar'], 'Input Strides': [[1024, 1], [1024, 1], []], 'Concrete Inputs': ['', '', '1'] },
        'void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)', 40 + this.roll(8));
    }
    this.op('aten::softmax', { 'Input Dims': [[4096, 1024], [], []], 'Input type': ['float', 'Scalar', 'Scalar'] }, k === 2 ? `softmax ${HOSTILE}` : 'softmax_warp_forward<float, float, float, 10, false>', 60);
    const id = this.id++;
    this.put({ cat: 'cuda_runtime', name: 'cudaMemcpyAsync', ts: this.host, dur: 5, args: { correlation: id } });
    this.put({ cat: 'gpu_memcpy', name: 'Memcpy HtoD (Pageable -> Device)', pid: this.rank, tid: 7, ts: this.free, dur: 90, args: { correlation: id, device: this.rank, stream: 7, bytes: 1 << 20 } });
    this.free += 90;
    this.host += 10;
    const begin = Math.max(this.free, this.host);
    this.free = begin;
    this.put({ cat: 'user_annotation', name: 'nccl:all_reduce', ts: this.host, dur: 20 });
    const end = (this.meet = begin + 400 + (this.rank ? 0 : 150));
    const size = 1 << (16 + (k % 3));
    this.op('c10d::allreduce_', {}, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)', end - begin,
      { 'Collective name': 'allreduce', 'In msg nelems': size, 'Out msg nelems': size, 'Group size': 2, dtype: 'Float', 'Process Group Name': '0', 'Process Group Ranks': '[0, 1]' });
    for (const [bytes, address] of held) this.memory(-bytes, address);
    this.put({ cat: 'cuda_runtime', name: 'cudaDeviceSynchronize', ts: this.host, dur: Math.max(5, this.free - this.host + 20), args: { correlation: this.id++ } });
    this.host = Math.max(this.host + 10, this.free + 30);
    this.put({ cat: 'user_annotation', name: `ProfilerStep#${k}`, ts: from, dur: this.host - from });
    for (let i = 0; i < 8; i++) this.events.push({ ph: 'C', name: `rocm_smi:::power_average:device=${this.rank}`, pid: this.pid, ts: from + ((this.host - from) * i) / 8, args: { value: 1e6 * (90 + this.roll(300)) } });
    this.host += 5;
  }

  json() {
    const names = [{ ph: 'M', name: 'process_name', pid: this.pid, tid: 0, args: { name: 'python' } }, { ph: 'M', name: 'thread_name', pid: this.pid, tid: this.pid, args: { name: `train ${HOSTILE}` } }];
    return JSON.stringify({
      schemaVersion: 1, distributedInfo: { backend: 'nccl', rank: this.rank, world_size: 2 }, baseTimeNanoseconds: 0,
      deviceProperties: [0, 1].map((id) => ({ id, name: 'NVIDIA A100-SXM4-80GB', totalGlobalMem: 85e9, computeMajor: 8, computeMinor: 0, warpSize: 32, numSms: 108 })),
      traceEvents: [...names, ...this.events],
    });
  }
}

function save(path, text) {
  const fd = openSync(path, 'w');
  writeSync(fd, text);
  closeSync(fd);
}

const analyze = (input, dir, ...more) => execFileSync(PROFRIG, ['analyze', input, '-o', dir, ...more], { stdio: 'pipe', env: { ...process.env, NO_COLOR: '1' } });

export function makeWorkload(dir) {
  const input = `${dir}-input`;
  mkdirSync(input, { recursive: true });
  for (const rank of [0, 1]) {
    const r = new Rank(rank, 17 + rank);
    r.host = 1000 + 30 * rank;
    r.free = r.host;
    for (let k = 0; k < 10; k++) r.step(k);
    save(`${input}/rank-${rank}.json`, r.json());
  }
  analyze(input, dir);
}

// The same job on a machine without devices: operators and steps alone.
export function makeHostWork(dir) {
  const r = new Rank(0, 17);
  for (let k = 0; k < 10; k++) r.step(k);
  r.events = r.events.filter((e) => ['cpu_op', 'user_annotation'].includes(e.cat));
  mkdirSync(dir, { recursive: true });
  save(`${dir}-input.json`, r.json());
  analyze(`${dir}-input.json`, dir);
}

// So many kernels on four queues, each shorter than a pixel, under a few long ones; 24 names.
export function makeMany(dir, spans) {
  const path = `${dir}-input.json`;
  mkdirSync(dir, { recursive: true });
  const fd = openSync(path, 'w');
  const roll = dice(5);
  const at = [0, 0, 0, 0];
  writeSync(fd, '{"traceEvents":[\n');
  for (let i = 0; i < spans;) {
    const lines = [];
    for (const to = Math.min(spans, i + 20000); i < to; i++) {
      const q = i & 3;
      const us = roll(1000) ? 2 + roll(20) : 300 + roll(5000);
      lines.push(`{"ph":"X","cat":"kernel","name":"kernel_${roll(24)}","pid":0,"tid":${q + 7},"ts":${at[q]},"dur":${us},"args":{"device":0,"stream":${q + 7}}}`);
      at[q] += us + roll(8);
    }
    writeSync(fd, `${lines.join(',\n')}${i < spans ? ',' : ''}\n`);
  }
  writeSync(fd, ']}\n');
  closeSync(fd);
  analyze(path, dir);
}

const fixture = (name) => resolve('tests/fixtures/tef', name);

// Steps of a program of XLA on two devices: the trace of JAX in tests/fixtures, with compilations of two modules and a capture of a graph.
export function makePrograms(dir) {
  const trace = JSON.parse(readFileSync(fixture('jax.json'), 'utf8'));
  const at = (tid, ts, dur, name) => trace.traceEvents.push({ ph: 'X', pid: 701, tid, ts, dur, name });
  at(2, 100, 400, 'XlaCompile:#module=jit_step,program_id=7#');
  at(2, 110, 40, 'XlaPass:#name=algsimp,module=jit_step#');
  at(2, 160, 90, 'XlaPass:#name=fusion,module=jit_step#');
  at(2, 260, 200, 'XlaCompileBackend:#module=jit_step,program_id=7#');
  at(3, 270, 120, 'XlaEmitGpuAsm:#module=jit_step#');
  for (let i = 0; i < 10; i++) at(2, 560 + 12 * i, 2 + i, `XlaPass:#name=pass_${'abcdefghij'[i]},module=jit_loss#`);
  at(2, 550, 150, 'XlaCompile:#module=jit_loss,program_id=8#');
  at(4, 100, 6, 'cuStreamBeginCapture_v2');
  for (let i = 0; i < 3; i++) at(4, 120 + 20 * i, 5, 'cuLaunchKernel');
  at(4, 200, 9, 'cuStreamEndCapture');
  mkdirSync(dir, { recursive: true });
  save(`${dir}-input.json`, JSON.stringify(trace));
  analyze(`${dir}-input.json`, dir);
}

// Two devices with cycle counters beside what their compiler expects: the trace of FLEX in tests/fixtures, the clock stated a little wrong.
export function makeCycles(dir) {
  mkdirSync(dir, { recursive: true });
  save(`${dir}-ideal.log`, ['DECODING', '~~~~ Ideal/Total Cycles ~~~~', 'Name                          Ideal Cy.', 'convolution-opCatConv_fp16    50000',
    ...[0, 1, 2].map((i) => `add_${i}-opCatAdd                ${9000 * i}`), 'Total                         77000', '====== Perf Summary End ======', ''].join('\n'));
  analyze(fixture('flex.json'), dir, '--ideal', `${dir}-ideal.log`, '--freq', '560:1000');
}
