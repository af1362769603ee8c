/** Compares the authorization tables with the memberships and the tree of groups. */
import { type RawBuilder, sql } from 'kysely';
import { countsToday, lockTree, refreshAuthorizations } from '../access/index.ts';
import type { Database } from '../db/index.ts';
import type { CheckOptions, Finding } from './finding.ts';

interface Difference {
  missing: number;
  superfluous: number;
}

/** Thrown to roll the transaction back. */
class OnlyLooked extends Error {}

/**
 * Recomputes the authorizations of each top-level namespace, as every change of a membership does, and compares them with the stored ones.
 * The tree is locked during the comparison.
 */
export async function* checkAuthorizations({ db, signal }: CheckOptions): AsyncGenerator<Finding> {
  const trees = await db
    .selectFrom('namespaces')
    .select(['id', 'full_path'])
    .where('parent_id', 'is', null)
    .orderBy('id')
    .execute();
  for (const { id, full_path } of trees) {
    signal.throwIfAborted();
    const differences = await compare(db, id);
    const [missing, superfluous] = [total(differences, 'missing'), total(differences, 'superfluous')];
    if (missing + superfluous === 0) continue;
    yield {
      sentence: `${full_path}: authorizations differ from the memberships: ${missing} are missing and ${superfluous} should not exist.`,
      repair: async () => {
        await db.transaction().execute((tx) => refreshAuthorizations(tx, { group_id: id }));
        return 'Recomputed.';
      },
    };
  }
}

const total = (differences: Difference[], member: 'missing' | 'superfluous') =>
  differences.reduce((sum, difference) => sum + difference[member], 0);

const groupRows = (root: number) => sql`
  select a.user_id, a.group_id, a.access_level, a.expires_at, a.member_role_id from group_authorizations a join namespaces n on n.id = a.group_id
   where n.traversal_ids[1] = ${sql.lit(root)}::bigint`;
const projectRows = (root: number) => sql`
  select a.user_id, a.project_id, a.access_level, a.expires_at, a.member_role_id from project_authorizations a join projects p on p.id = a.project_id
    join namespaces n on n.id = p.namespace_id where n.traversal_ids[1] = ${sql.lit(root)}::bigint`;

async function compare(db: Database, root: number): Promise<Difference[]> {
  let differences: Difference[] = [];
  const look = db.transaction().execute(async (tx) => {
    await lockTree(tx, root);
    await keep(tx, 'groups_before', groupRows(root));
    await keep(tx, 'projects_before', projectRows(root));
    await refreshAuthorizations(tx, { group_id: root });
    differences = [
      await difference(tx, 'groups_before', groupRows(root)),
      await difference(tx, 'projects_before', projectRows(root)),
    ];
    throw new OnlyLooked();
  });
  await look.catch((error) => {
    if (!(error instanceof OnlyLooked)) throw error;
  });
  return differences;
}

async function keep(tx: Database, name: string, rows: RawBuilder<unknown>): Promise<void> {
  await sql`create temporary table ${sql.ref(name)} on commit drop as ${rows}`.execute(tx);
}

/** Expired rows have no effect and stay until the next change. */
async function difference(tx: Database, name: string, now: RawBuilder<unknown>): Promise<Difference> {
  const before = sql`select * from ${sql.ref(name)} where ${countsToday()}`;
  const { rows } = await sql<Difference>`
    select (select count(*)::int from (${now} except ${before}) x) as missing,
           (select count(*)::int from (${before} except ${now}) x) as superfluous`.execute(tx);
  return rows[0]!;
}
