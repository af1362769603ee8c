/** Error tracking: how fast events are taken from applications, until the last of them is grouped. */
import path from 'node:path';
import autocannon from 'autocannon';
import pg from 'pg';
import { startEmbedded } from '../src/db/embedded.ts';
import { type Instance, startInstance } from './instance.ts';
import { timeOf } from './measure.ts';
import { plainRow, type Row } from './table.ts';

const events = Number(process.env.BENCH_EVENTS ?? 10_000);
const warmUp_events = events / 10;
const event_bytes = 24 * 1024;
const connections = 32;

/** An envelope with a stack of 40 frames, filled up to the size of an event of an average application. */
function envelope(): string {
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
  const event = { platform: 'node', release: 'shop@1.2.3', user: { id: 7 }, tags: { region: 'eu' }, exception };
  const breadcrumbs = { message: 'x'.repeat(100) };
  const missing = event_bytes - JSON.stringify(event).length;
  const values = Array.from({ length: Math.max(0, Math.floor(missing / 116)) }, () => breadcrumbs).slice(0, 100);
  const extra = { note: 'y'.repeat(Math.max(0, missing - values.length * 116)) };
  return `{}\n{"type":"event"}\n${JSON.stringify({ ...event, breadcrumbs: { values }, extra })}\n`;
}

async function openProject({ api }: Instance): Promise<string> {
  const { body: project } = await api.post('/projects', { name: 'shop' });
  const at = `/projects/${project.id}/error_tracking`;
  await api.put(`${at}/settings`, { active: true, integrated: true });
  const { body: keys } = await api.get(`${at}/client_keys`);
  return `/api/v4/error_tracking/collector/api/${project.id}/envelope/?sentry_key=${keys[0].public_key}`;
}

/** @param folder for the data of the instance */
export async function measureErrorTracking(folder: string): Promise<Row[]> {
  const instance = await startInstance(path.join(folder, 'error_tracking'));
  const { connectionString, stop } = await startEmbedded(instance.data, { use: 'shared' });
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query('update application_settings set error_tracking_events_per_minute = 0');
    const request = { method: 'POST' as const, path: await openProject(instance), body: envelope() };
    const send = async (amount: number) => {
      const { non2xx, errors } = await autocannon({ url: instance.url, connections, amount, requests: [request] });
      if (non2xx + errors > 0) throw new Error(`${non2xx} refusals, ${errors} errors`);
      const isWaiting = 'select exists (select from error_tracking_events where digested_at is null) as is_waiting';
      while ((await client.query<{ is_waiting: boolean }>(isWaiting)).rows[0]!.is_waiting);
    };
    await send(warmUp_events);
    const [before_ms, before_bytes] = [await instance.cpu_ms(), await instance.memory_bytes()];
    const taken_ms = await timeOf(() => send(events));
    const cpu_ms = ((await instance.cpu_ms()) - before_ms) / events;
    const grown = Math.round(((await instance.memory_bytes()) - before_bytes) / 2 ** 20);
    const rate = Math.round((events / taken_ms) * 1000);
    return [
      plainRow(`events of 24 KB, grouped (${cpu_ms.toFixed(2)} ms CPU each)`, `${rate}/s`, '≥ 500/s'),
      plainRow(`memory after ${events.toLocaleString('en')} events`, `${grown > 0 ? '+' : ''}${grown} MiB`, 'flat'),
    ];
  } finally {
    await client.end();
    await stop();
    await instance.stop();
  }
}
