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

/** @param folder for the data of an instance */
export async function measureAuditEvents(folder: string): Promise<Row[]> {
  const instance = await startInstance(path.join(folder, 'audit_events'));
  try {
    const { api } = instance;
    const { id } = (await api.post('/projects', { name: 'audited', initialize_with_readme: true })).body;
    const url = `/projects/${id}/protected_branches/main`;
    let isForced = false;
    const change = async () => {
      isForced = !isForced;
      const { status, body } = await api.patch(url, { allow_force_push: isForced });
      if (status !== 200) throw new Error(JSON.stringify(body));
    };
    await inTurn(turns, change);
    return await withTriggers(instance, async (set) => {
      const [loud, silent]: [Measured[], Measured[]] = [[], []];
      for (let round = 0; round < rounds; round++)
        for (const [state, measured] of [
          ['enable', loud],
          ['disable', silent],
        ] as const) {
          await set(state);
          measured.push((await inTurn(turns, change))[0]!);
        }
      await set('enable');
      return [
        timesRow(
          'PATCH a protected branch with its audit event, beside without',
          middle(loud),
          middle(silent),
          '≤ 5 % more',
        ),
      ];
    });
  } finally {
    await instance.stop();
  }
}
