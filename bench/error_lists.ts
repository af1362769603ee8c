/** Errors: lists, searches and single ones in a project with 50,000 of them and a million events. */
import path from 'node:path';
import { type ErrorSeed, seedErrors } from './error_seed.ts';
import { type Instance, startInstance } from './instance.ts';
import { inTurn } from './measure.ts';
import { ms, plainRow, type Row } from './table.ts';

const turns = Number(process.env.BENCH_TURNS ?? 60);
/** BENCH_ERROR_EVENTS makes the project smaller, to see whether it runs. */
const events = Number(process.env.BENCH_ERROR_EVENTS ?? 1_000_000);
const errors = events / 20;

/** Ways to ask. */
const lists = ({ words }: ErrorSeed): [string, Record<string, unknown>][] => [
  ['unresolved, last seen', {}],
  ['by frequency', { order_by: 'frequency' }],
  ['by users, all', { order_by: 'users', status: 'all' }],
  ['ignored, first seen', { order_by: 'first_seen', status: 'ignored', sort: 'asc' }],
  ['fatal ones', { level: 'fatal' }],
  ['of an environment that most have', { environment: 'production' }],
  ['of an environment that few have', { environment: 'rehearsal' }],
  ['of a release', { release: 'shop@1.7' }],
  ['of a release and a level, by users', { release: 'shop@1.7', level: 'fatal', order_by: 'users' }],
  ['page 400', { page: 400 }],
  ...words.map(({ word, count }): [string, Record<string, unknown>] => [
    `a word of ${count}`,
    { query: word, status: 'all' },
  ]),
  [`a word of ${words[2]!.count} and one of ${words[4]!.count}`, { query: `${words[2]!.word} ${words[4]!.word}` }],
  [`a word of ${words[4]!.count}, by users`, { query: words[4]!.word, order_by: 'users' }],
  [`a word of ${words[4]!.count}, rare environment`, { query: words[4]!.word, environment: 'rehearsal' }],
  ['a word of none', { query: 'qqqqqq' }],
];

/** With the processor time of a request, which says more than its duration where others use the machine. */
async function timesOf(
  { api, cpu_ms }: Instance,
  operation: string,
  address: string,
  query: Record<string, unknown> = {},
): Promise<Row> {
  const ask = async () => {
    const { status } = await api.get(address, query);
    if (status !== 200) throw new Error(`${address} answers ${status}`);
  };
  await inTurn(10, ask);
  const before_ms = await cpu_ms();
  const [measured] = await inTurn(turns, ask);
  const spent_ms = ((await cpu_ms()) - before_ms) / turns;
  return plainRow(operation, ms(measured!.p90_ms), 'P90 ≤ 25 ms', { ...measured!, cpu_ms: spent_ms });
}

/** @param folder for the data of the instance */
export async function measureErrorLists(folder: string): Promise<Row[]> {
  const instance = await startInstance(path.join(folder, 'error_lists'));
  try {
    const seed = await seedErrors(instance, events, errors);
    const at = `/projects/${seed.project}/error_tracking/errors`;
    const rows: Row[] = [];
    for (const [name, query] of lists(seed)) rows.push(await timesOf(instance, `errors: ${name}`, at, query));
    rows.push(await timesOf(instance, 'GET the most frequent error', `${at}/${seed.frequent}`));
    rows.push(await timesOf(instance, 'its events', `${at}/${seed.frequent}/events`));
    rows.push(await timesOf(instance, 'its latest event', `${at}/${seed.frequent}/events/latest`));
    return rows;
  } finally {
    await instance.stop();
  }
}
