/** Error tracking: how fast events are taken from applications, until the last of them is grouped, beside bare INSERTs and beside Bugsink. */
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import pg from 'pg';
import { startEmbedded } from '../src/db/embedded.ts';
import { type Bugsink, withBugsink } from './bugsink.ts';
import { type Instance, startInstance, withLimit } from './instance.ts';
import { timeOf } from './measure.ts';
import { plainRow, type Row } from './table.ts';

const events = Number(process.env.BENCH_EVENTS ?? 10_000);
const warmUp_events = events / 10;
const event_bytes = 24 * 1024;
const connections = 32;
/** How often it is asked whether all are grouped. */
const poll_ms = 5;
/** Fewer, because Bugsink groups some tens a second. */
const bugsinkEvents = Math.min(1000, events);

/** An event with a stack of 40 frames, filled up to the size of that of an average application. The id is left out. */
function eventWithoutId(): string {
  const frames = Array.from({ length: 40 }, (_, index) => ({
    function: `step${index}`,
    filename: `/app/src/step_${index}.js`,
    lineno: index,
    in_app: index > 20,
    pre_context: ['before', 'before', 'before'],
    context_line: `  await step${index + 1}(order);`,
    post_context: ['after', 'after', 'after'],
  }));
  const exception = { values: [{ type: 'OrderError', value: 'order 1734 has no address', stacktrace: { frames } }] };
  const timestamp = new Date().toISOString();
  const event = {
    timestamp,
    platform: 'node',
    release: 'shop@1.2.3',
    user: { id: 7 },
    tags: { region: 'eu' },
    exception,
  };
  const breadcrumbs = { message: 'x'.repeat(100) };
  const missing = event_bytes - JSON.stringify(event).length;
  const values = Array.from({ length: Math.max(0, Math.floor(missing / 116)) }, () => breadcrumbs).slice(0, 100);
  const extra = { note: 'y'.repeat(Math.max(0, missing - values.length * 116)) };
  return JSON.stringify({ ...event, breadcrumbs: { values }, extra });
}

/** Sends so many requests, until the last is answered: autocannon itself ends at a full second. */
async function untilAnswered(options: autocannon.Options & { amount: number }): Promise<void> {
  const last = Promise.withResolvers<void>();
  let answered = 0;
  const sender = autocannon(options, (error) => error && last.reject(error));
  sender.on('response', (_client, status) => {
    if (status >= 300) last.reject(new Error(`${options.url} answers ${status}`));
    if (++answered === options.amount) last.resolve();
  });
  sender.on('reqError', last.reject);
  await last.promise;
}

/** Sends events with ids of their own, as envelopes. @param at the path that takes them, with the key */
async function send(url: string, at: string, amount: number): Promise<void> {
  const event = eventWithoutId();
  const setupRequest = (request: autocannon.Request) => {
    const event_id = randomUUID().replaceAll('-', '');
    const body = `{"event_id":"${event_id}"}\n{"type":"event"}\n{"event_id":"${event_id}",${event.slice(1)}\n`;
    return { ...request, body };
  };
  const requests = [{ method: 'POST' as const, path: at, setupRequest }];
  await untilAnswered({ url, connections, amount, requests });
}

async function openProject({ api }: Instance): Promise<{ id: number; collector: string }> {
  const { body: project } = await api.post('/projects', { name: 'shop' });
  const at = `/projects/${project.id}/error_tracking`;
  await api.put(`${at}/settings`, { active: true, integrated: true });
  const { body: keys } = await api.get(`${at}/client_keys`);
  const collector = `/api/v4/error_tracking/collector/api/${project.id}/envelope/?sentry_key=${keys[0].public_key}`;
  return { id: project.id, collector };
}

/** @returns events a second */
const rateOf = async (amount: number, work: () => Promise<unknown>): Promise<number> =>
  (amount / (await timeOf(work))) * 1000;

/** The row of an event. What it changes of its error is left out, because many events do that together. */
const insertStatement = (project: number) => `
  insert into error_tracking_events (project_id, event_id, error_id, occurred_at, environment, level, name, description, actor, platform, fingerprint, tags, payload)
  select project_id, gen_random_uuid(), id, now(), 'production', 'error', 'OrderError', 'no address', 'step39', 'node', fingerprint, '{"region": "eu"}', $1
    from error_tracking_errors where project_id = ${project}`;

async function bareRate(connectionString: string, project: number): Promise<number> {
  const body = eventWithoutId();
  return withLimit('insert', [connectionString, insertStatement(project)], async ({ url }) => {
    const post = (amount: number) =>
      untilAnswered({ url, connections, amount, requests: [{ method: 'POST', path: '/', body }] });
    await post(warmUp_events);
    return rateOf(events, () => post(events));
  });
}

/**
 * Events whose grouping fails are lost to Bugsink: it is done when nothing waits and nothing was grouped for a while.
 * @returns events a second
 */
async function bugsinkRate({ url, collector, digested, waiting }: Bugsink, amount: number): Promise<number> {
  const [began, before] = [performance.now(), digested()];
  await send(url, collector, amount);
  let [count, last] = [digested(), performance.now()];
  while (count < before + amount && performance.now() - last < (waiting() > 0 ? 60_000 : 5000)) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    const now = digested();
    if (now > count) [count, last] = [now, performance.now()];
  }
  return ((count - before) / (last - began)) * 1000;
}

async function bugsinkRow(folder: string, rate: number): Promise<Row> {
  const operation = 'events of 24 KB, grouped, beside Bugsink';
  const target = '≥ 3×';
  const measured = await withBugsink(path.join(folder, 'bugsink'), async (bugsink) => {
    await bugsinkRate(bugsink, bugsinkEvents / 10);
    return bugsinkRate(bugsink, bugsinkEvents);
  });
  if (typeof measured !== 'number') return plainRow(operation, measured.missing, target);
  const row = plainRow(operation, `${Math.round(rate)}/s`, target);
  return { ...row, limit: `${Math.round(measured)}/s`, ratio: `${(rate / measured).toFixed(1)}×` };
}

/** @param folder for the data of the instance */
export async function measureErrorTracking(folder: string): Promise<Row[]> {
  const instance = await startInstance(path.join(folder, 'error_tracking'));
  const { connectionString, stop } = await startEmbedded(instance.data, { use: 'shared' });
  const client = new pg.Client({ connectionString });
  await client.connect();
  const rows: Row[] = [];
  let rate: number;
  try {
    await client.query('update application_settings set error_tracking_events_per_minute = 0');
    const { id, collector } = await openProject(instance);
    const sendAll = async (amount: number) => {
      await send(instance.url, collector, amount);
      const isWaiting = 'select exists (select from error_tracking_waiting_events) as is_waiting';
      while ((await client.query<{ is_waiting: boolean }>(isWaiting)).rows[0]!.is_waiting) await sleep(poll_ms);
    };
    await sendAll(warmUp_events);
    const [before_ms, before_bytes] = [await instance.cpu_ms(), await instance.allocated_bytes()];
    rate = await rateOf(events, () => sendAll(events));
    const cpu_ms = ((await instance.cpu_ms()) - before_ms) / events;
    const grown = Math.round(((await instance.allocated_bytes()) - before_bytes) / 2 ** 20);
    const bare = await bareRate(connectionString, id);
    const operation = `events of 24 KB, grouped (${cpu_ms.toFixed(2)} ms CPU each)`;
    const row = plainRow(operation, `${Math.round(rate)}/s`, '≥ 500/s, ≥ 40 %');
    rows.push({ ...row, limit: `${Math.round(bare)}/s`, ratio: `${Math.round((rate / bare) * 100)} %` });
    rows.push(
      plainRow(
        `memory allocated after ${events.toLocaleString('en')} events`,
        `${grown > 0 ? '+' : ''}${grown} MiB`,
        'flat',
      ),
    );
  } finally {
    await client.end();
    await stop();
    await instance.stop();
  }
  return [...rows, await bugsinkRow(folder, rate)];
}
