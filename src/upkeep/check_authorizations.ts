/** Compares the authorization tables with the memberships and the tree of groups. */
import { type RawBuilder, sql } from 'kysely';
import { countsToday, lockTrees, refreshAuthorizations } from '../access/index.ts';
import type { Database } from '../db/index.ts';
import type { CheckOptions, Finding } from './finding.ts';

interface Difference {
  missing: number;
  superfluous: number;
}

/** Thrown to roll the transaction back. */
class OnlyLooked extends Error {}

interface Tree {
  id: number;
  full_path: string;
}

/** Namespaces of users have few projects each. Their trees are locked together, so that a batch is short. */
const users_at_a_time = 100;

/**
 * Recomputes the authorizations of each top-level namespace, as every change of a membership does, and compares them with the stored ones.
 * The tree is locked during the comparison. Namespaces of users are compared many at a time, and one by one only where something differs.
 */
export async function* checkAuthorizations({ db, signal }: CheckOptions): AsyncGenerator<Finding> {
  for (const batch of await batches(db)) {
    signal.throwIfAborted();
    if (batch.length > 1 && isSame(await compare(db, batch))) continue;
    for (const tree of batch) yield* checkTree(db, tree);
  }
}

async function batches(db: Database): Promise<Tree[][]> {
  const trees = await db
    .selectFrom('namespaces')
    .select(['id', 'full_path', 'kind'])
    .where('parent_id', 'is', null)
    .orderBy('id')
    .execute();
  const { user = [], group = [] } = Object.groupBy(trees, ({ kind }) => kind);
  const ofUsers = Array.from({ length: Math.ceil(user.length / users_at_a_time) }, (_, index) =>
    user.slice(index * users_at_a_time, (index + 1) * users_at_a_time),
  );
  return [...ofUsers, ...group.map((tree) => [tree])];
}

async function* checkTree(db: Database, tree: Tree): AsyncGenerator<Finding> {
  const differences = await compare(db, [tree]);
  if (isSame(differences)) return;
  yield {
    sentence: `${tree.full_path}: authorizations differ from the memberships: ${total(differences, 'missing')} are missing and ${total(differences, 'superfluous')} should not exist.`,
    repair: async () => {
      await db.transaction().execute((tx) => refreshAuthorizations(tx, { group_id: tree.id }));
      return 'Recomputed.';
    },
  };
}

const isSame = (differences: Difference[]): boolean =>
  total(differences, 'missing') + total(differences, 'superfluous') === 0;

const total = (differences: Difference[], member: 'missing' | 'superfluous') =>
  differences.reduce((sum, difference) => sum + difference[member], 0);

const groupRows = (roots: readonly number[]) => sql`
  select a.user_id, a.group_id, a.access_level, a.expires_at, a.member_role_id from group_authorizations a join namespaces n on n.id = a.group_id
   where n.traversal_ids[1] = any(${roots}::bigint[])`;
const projectRows = (roots: readonly number[]) => sql`
  select a.user_id, a.project_id, a.access_level, a.expires_at, a.member_role_id from project_authorizations a join projects p on p.id = a.project_id
    join namespaces n on n.id = p.namespace_id where n.traversal_ids[1] = any(${roots}::bigint[])`;

async function compare(db: Database, trees: readonly Tree[]): Promise<Difference[]> {
  const roots = trees.map(({ id }) => id);
  let differences: Difference[] = [];
  const look = db.transaction().execute(async (tx) => {
    await lockTrees(tx, roots);
    await keep(tx, 'groups_before', groupRows(roots));
    await keep(tx, 'projects_before', projectRows(roots));
    await refreshAuthorizations(
      tx,
      roots.map((group_id) => ({ group_id })),
    );
    differences = [
      await difference(tx, 'groups_before', groupRows(roots)),
      await difference(tx, 'projects_before', projectRows(roots)),
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
