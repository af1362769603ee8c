/** The instance id of a project, by which its applications identify themselves, and the time when they were last seen. */
import { hash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';
import type { Secrets } from '../../../secrets/index.ts';

const purpose = 'feature flags instance id';

/** The digest of an instance id. The id is random, so a plain hash is enough. */
export const digestOf = (instance_id: string): Buffer => hash('sha256', instance_id, 'buffer');

const newInstanceId = () => `glffct-${randomBytes(20).toString('base64url')}`;

const newColumns = (secrets: Secrets) => {
  const instance_id = newInstanceId();
  return { instance_id: secrets.seal(purpose, instance_id), instance_digest: digestOf(instance_id) };
};

const clientOf = (db: Database, project_id: number) =>
  db
    .selectFrom('feature_flag_clients')
    .select(['instance_id', 'last_seen_at', 'sdk'])
    .where('project_id', '=', project_id)
    .executeTakeFirst();

export interface ShownClient {
  /** Null if it cannot be decrypted. */
  instance_id: string | null;
  last_seen_at: string | null;
  sdk: string | null;
}

/** The configuration for applications. The instance id is created on the first request. */
export async function clientFor(
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  project_id: number,
): Promise<ShownClient> {
  let row = await clientOf(db, project_id);
  if (!row) {
    await db
      .insertInto('feature_flag_clients')
      .values({ project_id, ...newColumns(secrets) })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    row = (await clientOf(db, project_id))!;
  }
  const { instance_id } = row;
  return { ...row, instance_id: secrets.unseal(purpose, instance_id) ?? null };
}

/** Replaces the instance id of a project. The old one stops working at once. */
export async function resetClient(services: Pick<Services, 'db' | 'secrets'>, project_id: number) {
  const columns = newColumns(services.secrets);
  await services.db
    .insertInto('feature_flag_clients')
    .values({ project_id, ...columns })
    .onConflict((conflict) => conflict.column('project_id').doUpdateSet(columns))
    .execute();
  return clientFor(services, project_id);
}

/** Records that an application of a project was seen, at most once an hour. */
export async function noteSeen(db: Database, project_id: number, sdk: string | undefined): Promise<void> {
  await sql`
    update feature_flag_clients set last_seen_at = now(), sdk = coalesce(${sdk ?? null}, sdk)
     where project_id = ${project_id} and (last_seen_at is null or last_seen_at < now() - interval '1 hour')`.execute(
    db,
  );
}

/** The projects whose instance id cannot be decrypted. */
export async function* brokenInstanceIds(db: Database, secrets: Secrets): AsyncGenerator<number> {
  for (let last = 0; ; ) {
    const query = db
      .selectFrom('feature_flag_clients')
      .select(['project_id', 'instance_id'])
      .where('project_id', '>', last)
      .orderBy('project_id')
      .limit(1000);
    const rows = await query.execute();
    if (rows.length === 0) return;
    last = rows.at(-1)!.project_id;
    const broken = rows.filter(({ instance_id }) => secrets.unseal(purpose, instance_id) === undefined);
    yield* broken.map(({ project_id }) => project_id);
  }
}
