/** What an audit event costs a change: protecting a tag with its event, beside the same without. */
import path from 'node:path';
import { sql } from 'kysely';
import { startEmbedded } from '../src/db/embedded.ts';
import { connect } from '../src/db/index.ts';
import { type Instance, startInstance } from './instance.ts';
import { inTurn, type Measured } from './measure.ts';
import { type Row, timesRow } from './table.ts';

const turns = Number(process.env.BENCH_TURNS ?? 60);
/** The two are measured alternately so often, so that both meet the same machine. */
const rounds = 5;

async function withTriggers(
  instance: Instance,
  measure: (set: (state: 'enable' | 'disable') => Promise<void>) => Promise<Row[]>,
) {
  const { connectionString, stop } = await startEmbedded(instance.data, { use: 'shared' });
  const db = connect({ connectionString, max: 1 });
  try {
    return await measure(async (state) => {
      await sql`alter table protected_branches ${sql.raw(state)} trigger audit_changed`.execute(db);
    });
  } finally {
    await db.destroy();
    await stop();
  }
}

const middle = (all: readonly Measured[]): Measured =>
  all.toSorted((a, b) => a.p50_ms - b.p50_ms)[Math.floor(all.length / 2)]!;

/** So many changes at the same time: transactions with events commit one after the other. */
const atOnce = 8;

/** @param folder for the data of an instance */
export async function measureAuditEvents(folder: string): Promise<Row[]> {
  const instance = await startInstance(path.join(folder, 'audit_events'));
  try {
    const { api } = instance;
    const changes: (() => Promise<void>)[] = [];
    for (let count = 0; count < atOnce; count++) {
      const { id } = (await api.post('/projects', { name: `audited ${count}`, initialize_with_readme: true })).body;
      let isForced = false;
      changes.push(async () => {
        isForced = !isForced;
        const changed = { allow_force_push: isForced };
        const { status, body } = await api.patch(`/projects/${id}/protected_branches/main`, changed);
        if (status !== 200) throw new Error(JSON.stringify(body));
      });
    }
    const kinds = [
      { what: 'PATCH a protected branch with its audit event, beside without', target: '≤ 5 % more', run: changes[0]! },
      {
        what: `The same, ${atOnce} at once in ${atOnce} projects`,
        target: '≤ 2 times',
        run: async () => {
          await Promise.all(changes.map((change) => change()));
        },
      },
    ];
    for (const { run } of kinds) await inTurn(turns, run);
    return await withTriggers(instance, async (set) => {
      const rows: Row[] = [];
      for (const { what, target, run } of kinds) {
        const [loud, silent]: [Measured[], Measured[]] = [[], []];
        for (let round = 0; round < rounds; round++)
          for (const [state, measured] of [
            ['enable', loud],
            ['disable', silent],
          ] as const) {
            await set(state);
            measured.push((await inTurn(turns, run))[0]!);
          }
        rows.push(timesRow(what, middle(loud), middle(silent), target));
      }
      await set('enable');
      return rows;
    });
  } finally {
    await instance.stop();
  }
}
