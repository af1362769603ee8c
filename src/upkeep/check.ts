/** Checks the consistency of database, repositories and blobs, and offers repairs. */
import { availableParallelism } from 'node:os';
import { sql } from 'kysely';
import { brokenHooks } from '../areas/activity/hooks/index.ts';
import { brokenMirrors } from '../areas/code/mirrors/index.ts';
import { abandoned_minutes, settleReferenceUpdates } from '../areas/code/repository/index.ts';
import { brokenTokens } from '../areas/deployments/clusters/index.ts';
import { brokenInstanceIds } from '../areas/deployments/feature_flags/index.ts';
import { brokenValues } from '../areas/deployments/variables/index.ts';
import { areaServices, repositories } from '../areas/index.ts';
import { brokenImportTokens } from '../areas/migration/bulk_imports/index.ts';
import { fingerprintOf } from '../secrets/index.ts';
import { blobsOf, secretsOf, servicesFor } from '../services/index.ts';
import { checkAuditEvents } from './check_audit_events.ts';
import { checkAuthorizations } from './check_authorizations.ts';
import { checkBlobs } from './check_blobs.ts';
import { checkMerges } from './check_merges.ts';
import { checkReferences } from './check_references.ts';
import { checkRepository } from './check_repository.ts';
import { checkStorages } from './check_storages.ts';
import { checkStoredFiles } from './check_stored_files.ts';
import type { CheckOptions, Finding } from './finding.ts';
import { inParallel } from './in_parallel.ts';
import { allRows, storagesOf } from './repositories.ts';

/**
 * Reports inconsistencies one by one. It can run beside a server: what seems wrong because it is changing
 * at the moment is checked again before it is reported.
 */
export async function* check({
  db,
  config,
  signal,
}: Pick<CheckOptions, 'db' | 'config' | 'signal'>): AsyncGenerator<Finding> {
  const options: CheckOptions = { db, config, signal, storages: storagesOf(config), blobs: blobsOf(config) };
  yield* checkSecret(options);
  yield* checkJournal(options);
  yield* checkMerges(options);
  yield* checkStorages(options);
  yield* checkRepositories(options);
  yield* checkBlobs(options);
  yield* checkStoredFiles(options);
  yield* checkReferences(options);
  yield* checkAuthorizations(options);
  yield* checkAuditEvents(options);
}

/** Before its first start, a server has encrypted nothing. */
async function* checkSecret({ db, config, signal }: CheckOptions): AsyncGenerator<Finding> {
  const secrets = secretsOf(config);
  const instance = await db.selectFrom('instance').select('secret_fingerprint').executeTakeFirst();
  if (instance && !instance.secret_fingerprint.equals(fingerprintOf(secrets))) {
    yield { sentence: 'The database was used with another secret key: its encrypted values cannot be decrypted.' };
    return;
  }
  for await (const { id, name } of brokenTokens(db, secrets)) {
    signal.throwIfAborted();
    yield {
      sentence: `Cluster ${id} (${name}): its token cannot be decrypted. Set it again: PUT /api/v4/admin/clusters/${id}.`,
    };
  }
  for await (const { id, key } of brokenValues(db, secrets)) {
    signal.throwIfAborted();
    yield { sentence: `CI/CD variable ${id} (${key}): its value cannot be decrypted. Set it again through the API.` };
  }
  for await (const id of brokenInstanceIds(db, secrets)) {
    signal.throwIfAborted();
    yield {
      sentence: `Project ${id}: the instance id of its feature flags cannot be decrypted. Applications that know it go on; reset it to see one again.`,
    };
  }
  for await (const id of brokenHooks(db, secrets)) {
    signal.throwIfAborted();
    yield { sentence: `Webhook ${id}: its secrets cannot be decrypted. Delete it and add it again through the API.` };
  }
  for await (const id of brokenImportTokens(db, secrets)) {
    signal.throwIfAborted();
    yield {
      sentence: `Migration ${id}: its token for the source cannot be decrypted. Cancel it and retry it with a token.`,
    };
  }
  for (const [table, kind] of [
    ['remote_mirrors', 'Push'],
    ['pull_mirrors', 'Pull'],
  ] as const)
    for await (const { id, project_id } of brokenMirrors(db, secrets, table)) {
      signal.throwIfAborted();
      yield {
        sentence: `${kind} mirror ${id} of project ${project_id}: its credentials cannot be decrypted. Set it up again through the API.`,
      };
    }
}

async function* checkJournal({ db, config }: CheckOptions): AsyncGenerator<Finding> {
  const paths = sql.join(
    repositories.kinds.map(
      ({ rows, column }) =>
        sql`select full_path from (${sql.raw(rows)}) owners where id = reference_updates.${sql.ref(column)}`,
    ),
    sql` union all `,
  );
  const rows = await db
    .selectFrom('reference_updates')
    .select(['id', 'created_at'])
    .select(sql<string>`(${paths})`.as('full_path'))
    .orderBy('id')
    .execute();
  for (const { id, created_at, full_path } of rows) {
    if (Date.parse(created_at) > Date.now() - abandoned_minutes * 60_000) {
      yield {
        sentence: `${full_path}: ref updates that began at ${created_at} are pending; a server settles them within ${abandoned_minutes} minutes, or when it starts.`,
        pending: true,
      };
      continue;
    }
    yield {
      sentence: `${full_path}: ref updates that began at ${created_at} were never settled.`,
      repair: () => settle({ db, config }, id),
    };
  }
}

/** Settles all; the failure of another one does not concern this one. */
async function settle({ db, config }: Pick<CheckOptions, 'db' | 'config'>, id: number): Promise<string> {
  const failure = await settleReferenceUpdates(servicesFor(config, db, areaServices)).then(
    () => undefined,
    (error: unknown) => error,
  );
  const still = await db.selectFrom('reference_updates').select('id').where('id', '=', id).executeTakeFirst();
  if (!still) return 'Settled.';
  if (failure !== undefined) throw failure;
  return 'It is too recent; a running server settles it within minutes.';
}

/** Checks several repositories at once and passes findings on as they come. */
async function* checkRepositories(options: CheckOptions): AsyncGenerator<Finding> {
  const checks = (await allRows(options.db)).map((row) => () => checkRepository(options, row));
  const findings: Finding[] = [];
  let wake = Promise.withResolvers<void>();
  let isOver = false;
  const all = inParallel(checks, availableParallelism(), async (look) => {
    options.signal.throwIfAborted();
    findings.push(...(await look()).map((finding) => ({ ...finding, again: look })));
    wake.resolve();
  }).finally(() => {
    isOver = true;
    wake.resolve();
  });
  all.catch(() => {}); // thrown below
  while (!isOver || findings.length > 0) {
    const next = findings.shift();
    if (next) yield next;
    else {
      await wake.promise;
      wake = Promise.withResolvers();
    }
  }
  await all;
}
