import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { sql } from 'kysely';
import { sent } from '../../test/support/sent.ts';
import { type World, world } from '../../test/support/world.ts';
import type { Database } from '../db/index.ts';
import { fingerprintOf, type SealedColumn, type SealedPurpose, sealedColumns, secretsFrom } from '../secrets/index.ts';
import { rotateSecret } from './secret_rotation.ts';

const columns = Object.entries(sealedColumns).flatMap(([purpose, places]) =>
  places.map((place: SealedColumn) => ({ purpose: purpose as SealedPurpose, ...place })),
);

/** Stores at least one value in each column. */
async function sealInEach({ as, db, services, project, people }: World): Promise<void> {
  const url = `/projects/${project.id}`;
  for (const key of ['DAMAGED', 'SOUND'])
    await sent(as('owner').post(`${url}/variables`, { key, value: `value of ${key}` }));
  const custom_headers = [{ key: 'X-Key', value: 'secret' }];
  await sent(as('owner').post(`${url}/hooks`, { url: 'https://hooks.example.com', custom_headers }));
  await sent(as('owner').get(`${url}/feature_flags_client`));
  await sent(as('owner').post(`${url}/remote_mirrors`, { url: 'https://ada:secret@git.example.com/copy.git' }));
  const platform_kubernetes_attributes = { api_url: 'https://kube.example.com', token: 'token' };
  await sent(as('admin').post('/admin/clusters/add', { name: 'orchard', platform_kubernetes_attributes }));
  const pipeline = await db
    .insertInto('pipelines')
    .values({ project_id: project.id, iid: 1, sha: '0'.repeat(40), ref: 'main', status: 'created', source: 'api' })
    .returning('id')
    .executeTakeFirstOrThrow();
  const job = await db
    .insertInto('commit_statuses')
    .values({
      ...{ project_id: project.id, pipeline_id: pipeline.id, sha: '0'.repeat(40), ref: 'main', name: 'build' },
      ...{ status: 'running', kind: 'job', stage: 'test', stage_index: 1, run_when: 'on_success' },
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await db
    .insertInto('job_runs')
    .values({
      ...{ job_id: job.id, token_digest: randomBytes(32), can_cancel_gracefully: true, timeout_s: 3600 },
      masked_values: services.secrets.seal('masked values of a job', '["secret"]'),
    })
    .execute();
  const sealedAs = (purpose: 'provider message' | 'provider sign-in') => ({
    ...{ handle_digest: randomBytes(32), provider: 'corporate' },
    sealed: services.secrets.seal(purpose, 'secret'),
  });
  const { sealed: message, ...ofMessage } = sealedAs('provider message');
  await db
    .insertInto('provider_messages')
    .values({ ...ofMessage, message })
    .execute();
  const { sealed: round, ...ofRound } = sealedAs('provider sign-in');
  await db
    .insertInto('provider_sign_ins')
    .values({ ...ofRound, round })
    .execute();
  const held_back = services.secrets.seal('end of a job log', 'c2Vj');
  await db.insertInto('job_logs').values({ job_id: job.id, held_back }).execute();
  const given = { key: 'GIVEN', value: services.secrets.seal('pipeline variable', 'given'), raw: false };
  await db
    .insertInto('pipeline_variables')
    .values({ ...given, pipeline_id: pipeline.id, variable_type: 'env_var' })
    .execute();
  const private_key = services.secrets.seal('ID token key', 'a key');
  await db.insertInto('id_token_keys').values({ private_key, public_key: '{}' }).execute();
  const toJob = { key: 'GIVEN', value: services.secrets.seal('job variable', 'given') };
  await db
    .insertInto('job_variables')
    .values({ ...toJob, job_id: job.id })
    .execute();
  const { id: state_id } = await db
    .insertInto('terraform_states')
    .values({ project_id: project.id, name: 'production' })
    .returning('id')
    .executeTakeFirstOrThrow();
  await db
    .insertInto('terraform_versions')
    .values({
      ...{ state_id, project_id: project.id, serial: 1, size_bytes: 1, digest: '', stored_bytes: 1, stored_sha256: '' },
      blob_key: 'terraform_states/none',
      content_key: services.secrets.seal('terraform state key', 'key'),
    })
    .execute();
  await db
    .insertInto('secure_files')
    .values({
      ...{ project_id: project.id, name: 'a.key', checksum: '', stored_bytes: 1, stored_sha256: '' },
      blob_key: 'secure_files/none',
      content_key: services.secrets.seal('secure file key', 'key'),
    })
    .execute();
  await sent(as('owner').post(`${url}/triggers`, { description: 'Nightly' }));
  const schedule = { description: 'Nightly', ref: 'refs/heads/main', cron: '0 1 * * *', owner_id: people.owner.id };
  const { id: schedule_id } = await db
    .insertInto('pipeline_schedules')
    .values({ ...schedule, project_id: project.id })
    .returning('id')
    .executeTakeFirstOrThrow();
  const scheduled = services.secrets.seal('pipeline schedule variable', 'given');
  await db
    .insertInto('pipeline_schedule_variables')
    .values({ schedule_id, key: 'GIVEN', value: scheduled, variable_type: 'env_var' })
    .execute();
  const dotenv = { key: 'LEFT', value: services.secrets.seal('dotenv variable', 'left') };
  await db
    .insertInto('job_dotenv_variables')
    .values({ ...dotenv, job_id: job.id })
    .execute();
  const login = services.secrets.seal('mirror login', '{"username":"ada"}');
  await db
    .insertInto('pull_mirrors')
    .values({ project_id: project.id, url: 'https://git.example.com/a.git', login })
    .execute();
  const migration = { user_id: people.admin.id, source_url: 'https://git.example.com', source_version: '18.5.0' };
  await db
    .insertInto('bulk_imports')
    .values({ ...migration, state: 'finished', access_token: services.secrets.seal('bulk import token', 'token') })
    .execute();
  await db
    .insertInto('totp_factors')
    .values({ user_id: people.developer.id, secret: services.secrets.seal('TOTP secret', 'SECRET') })
    .execute();
  await db
    .insertInto('geo_nodes')
    .values({
      name: `site of ${project.path}`,
      url: 'https://site.example.com',
      credential: services.secrets.seal('geo credential', 'credential'),
    })
    .execute();
}

const valuesIn = async (db: Database, { table, column, key }: SealedColumn) => {
  const { rows } = await sql<{ id: number; sealed: Buffer }>`
    select ${sql.ref(key)} as id, ${sql.ref(column)} as sealed from ${sql.table(table)} where ${sql.ref(column)} is not null order by 1`.execute(
    db,
  );
  return rows;
};

test('a new secret key decrypts what the old one did, in every column, and nothing else', async () => {
  const here = await world({});
  const { db, services } = here;
  const { secrets } = services;
  await sealInEach(here);
  const damaged = await db
    .updateTable('variables')
    .set({ value: randomBytes(60) })
    .where('key', '=', 'DAMAGED')
    .where('project_id', '=', here.project.id)
    .returning('id')
    .executeTakeFirstOrThrow();
  const to = secretsFrom('n'.repeat(32));
  const tx = await db.startTransaction().execute();
  try {
    const before = new Map<SealedColumn, Map<number, string | undefined>>();
    for (const column of columns) {
      const values = await valuesIn(tx, column);
      before.set(column, new Map(values.map(({ id, sealed }) => [id, secrets.unseal(column.purpose, sealed)])));
      assert.ok(values.length > 0, column.table);
    }
    const rotated = await rotateSecret(tx, { from: secrets, to });
    let changed = 0;
    let unreadable = 0;
    for (const column of columns)
      for (const { id, sealed } of await valuesIn(tx, column)) {
        const text = before.get(column)!.get(id);
        assert.equal(to.unseal(column.purpose, sealed), text, `${column.table} ${id}`);
        assert.equal(secrets.unseal(column.purpose, sealed), undefined, `${column.table} ${id}`);
        if (text === undefined) unreadable++;
        else changed++;
      }
    assert.deepEqual(rotated, { changed, unreadable });
    assert.ok(before.get(columns.find(({ table }) => table === 'variables')!)!.has(damaged.id) && unreadable > 0);
    const instances = await tx.selectFrom('instance').select('secret_fingerprint').execute();
    for (const { secret_fingerprint } of instances) assert.ok(secret_fingerprint.equals(fingerprintOf(to)));
  } finally {
    await tx.rollback().execute();
  }
});

test('every column of bytes is encrypted, or is a digest, a random number, public, or a part of a log', async () => {
  const { db } = await world({});
  const { rows } = await sql<{ table: string; column: string }>`
    select table_name as table, column_name as column from information_schema.columns where table_schema = 'public' and data_type = 'bytea'`.execute(
    db,
  );
  const others = rows.filter(
    ({ table, column }) => !columns.some((each) => each.table === table && each.column === column),
  );
  assert.equal(rows.length - others.length, columns.length);
  for (const { table, column } of others)
    assert.match(
      `${table}.${column}`,
      /(digest|hash|checksum|salt|nonce|fingerprint)$|\.key$|^job_log_pieces\.content$|^webauthn_credentials\.(credential_id|public_key)$/,
    );
});
