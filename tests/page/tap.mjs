// A few lines of TAP: test(name, fn) in order, done() ends with the status.

const tests = [];
export const test = (name, fn) => tests.push({ name, fn });

export function ok(cond, what) {
  if (!cond) throw new Error(what || 'expected something true');
}

export function equal(got, want, what = '') {
  if (!Object.is(got, want)) throw new Error(`${what ? `${what}: ` : ''}got ${JSON.stringify(got)}, expected ${JSON.stringify(want)}`);
}

export function deepEqual(got, want, what = '') {
  equal(JSON.stringify(got), JSON.stringify(want), what);
}

export function near(got, want, rel, what = '') {
  if (!(Math.abs(got - want) <= rel * Math.abs(want) + Number.MIN_VALUE)) throw new Error(`${what ? `${what}: ` : ''}got ${got}, expected ${want} within ${rel}`);
}

// What waits for something that never comes would keep the whole suite waiting.
const LIMIT_MS = 240000;
const within = (limit, work) => {
  let timer;
  const late = new Promise((_, fail) => { timer = setTimeout(() => fail(new Error(`not done after ${limit / 1000} s`)), limit); });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
};

export async function done(prefix) {
  let failed = 0;
  const only = process.env.ONLY;
  for (const [i, t] of tests.entries()) {
    if (only && !t.name.includes(only)) continue;
    const start = Date.now();
    try {
      await within(LIMIT_MS, t.fn());
      console.log(`ok ${i + 1} - ${prefix}: ${t.name} (${Date.now() - start} ms)`);
    } catch (e) {
      failed++;
      console.log(`not ok ${i + 1} - ${prefix}: ${t.name}`);
      for (const line of String(e.stack || e).split('\n').slice(0, 14)) console.log(`# ${line}`);
    }
  }
  return failed;
}
