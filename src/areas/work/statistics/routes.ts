/** Approximate counts of the whole server (docs/reference/statistics.md). */
import { type RawBuilder, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { admin, isUsableAccount } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { get, one, resource } from '../../../http/index.ts';

const Count = () => Type.String({ description: 'With commas, e.g. `1,234`' });

const Statistics = resource('ApplicationStatistics', {
  forks: Count(),
  issues: Count(),
  merge_requests: Count(),
  notes: Count(),
  snippets: Count(),
  ssh_keys: Count(),
  milestones: Count(),
  users: Count(),
  projects: Count(),
  groups: Count(),
  active_users: Count(),
});
type Name = keyof Static<typeof Statistics>;

/** The counted rows, as selects. */
const counted: Readonly<Record<Name, RawBuilder<unknown>>> = {
  forks: sql`select from projects where forked_from_id is not null`,
  issues: sql`select from issues`,
  merge_requests: sql`select from merge_requests`,
  notes: sql`select from notes`,
  snippets: sql`select from snippets`,
  ssh_keys: sql`select from keys where user_id is not null`,
  milestones: sql`select from milestones`,
  users: sql`select from users`,
  projects: sql`select from projects`,
  groups: sql`select from namespaces where kind = 'group'`,
  active_users: sql`select from users where state = 'active' and ${isUsableAccount}`,
};

/** Up to this number rows are counted; beyond it, the estimate of the query planner is returned. */
const exactly = sql.lit(10_000);

async function expected(db: Database, rows: RawBuilder<unknown>): Promise<number> {
  const plans = await sql<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>`explain (format json) ${rows}`.execute(
    db,
  );
  return plans.rows[0]!['QUERY PLAN'][0].Plan['Plan Rows'];
}

/** The count for each name. No table is read completely. */
async function counts(db: Database): Promise<[name: string, count: number][]> {
  const columns = Object.entries(counted).map(
    ([name, rows]) => sql`(select count(*) from (${rows} limit ${exactly}) counted) as ${sql.ref(name)}`,
  );
  const { rows } = await sql<Record<Name, number>>`select ${sql.join(columns)}`.execute(db);
  return Promise.all(
    Object.entries(rows[0]!).map(async ([name, count]): Promise<[string, number]> => {
      if (count < 10_000) return [name, count];
      return [name, Math.max(count, await expected(db, counted[name as Name]))];
    }),
  );
}

export const statisticRoutes = [
  get('/application/statistics', {
    operation: 'getApplicationStatistics',
    summary: 'Show how much there is on the server',
    description: 'Numbers from 10,000 on are estimates.',
    access: admin,
    returns: one(Statistics),
    handle: async ({ db }) => {
      const shown = (await counts(db)).map(([name, count]) => [name, count.toLocaleString('en-US')]);
      return Object.fromEntries(shown) as Static<typeof Statistics>;
    },
  }),
];
