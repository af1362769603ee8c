/** Storing the files that runners send (docs/reference/job_artifacts.md#runners). */
import { sql } from 'kysely';
import { InvalidContent, LimitExceeded, unpacked, zipEntries } from '../../../archives/index.ts';
import type { BlobKey } from '../../../blobs/index.ts';
import { durationOf } from '../../../ci_configuration/index.ts';
import { type Database, repeated } from '../../../db/index.ts';
import { ApiError, badRequest, forbidden, type Services, type UploadedFile } from '../../../http/index.ts';
import { maximumReport_bytes, type Summary, summaryOf, UnreadableReport } from '../../../test_reports/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { removeUnusedBlob, storeBlob, useBlob } from '../../instance/blobs/index.ts';
import { limitsOf } from '../../instance/plan_limits/index.ts';
import { notRunningText, type RunningJob } from '../held_jobs/queries.ts';
import {
  type Accessibility,
  type DotenvVariable,
  dotenvIn,
  type FileType,
  type Format,
  InvalidDotenv,
} from './rules.ts';
import { partsOf } from './zip_queries.ts';

export interface SentArtifact {
  file_type: FileType;
  file_format: Format;
  /** As it was sent; undefined for the default of the server. */
  expire_in: string | undefined;
  file: UploadedFile;
}

const badArchiveText = '400 Bad request - The archive cannot be read';
const takenText = '409 Conflict';

/** What a report says that later requests ask for. */
interface Read {
  suite?: Partial<Summary> & { suite_error?: string };
  variables?: DotenvVariable[];
}

type Place = Pick<Services, 'db' | 'blobs' | 'secrets'>;

/** The bytes of a report, of which the server reads no more than it has to. */
async function bytesOf({ blobs }: Place, key: BlobKey, most_bytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of (await blobs.read(key, { start: 0, end: most_bytes })) as AsyncIterable<Buffer>)
    chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function checkArchive({ blobs }: Place, { key, size_bytes }: UploadedFile): Promise<Read> {
  try {
    for await (const _ of zipEntries(partsOf({ blobs }, { blob_key: key, size_bytes })));
    return {};
  } catch (error) {
    throw error instanceof InvalidContent || error instanceof LimitExceeded ? badRequest(badArchiveText) : error;
  }
}

async function readTests(
  services: Place,
  { project_id }: RunningJob,
  { key, size_bytes }: UploadedFile,
): Promise<Read> {
  if (size_bytes > maximumReport_bytes) return { suite: { suite_error: unreadable('it is too large') } };
  try {
    return { suite: await summaryOf(await bytesOf(services, key, maximumReport_bytes), project_id) };
  } catch (error) {
    if (!(error instanceof UnreadableReport)) throw error;
    return { suite: { suite_error: unreadable(error.message) } };
  }
}

const unreadable = (reason: string) => `JUnit XML parsing failed: ${reason}`;
const largeDotenvText = (most_bytes: number) => `Dotenv Artifact Too Big. Maximum Allowable Size: ${most_bytes}`;

/** @throws ApiError 400 */
async function readDotenv(services: Place, { key }: UploadedFile): Promise<Read> {
  const { dotenv_size, dotenv_variables } = await limitsOf(services.db);
  const most_bytes = dotenv_size > 0 ? dotenv_size : maximumReport_bytes;
  try {
    const stream = (await services.blobs.read(key))!;
    const content = Buffer.concat(await Array.fromAsync(unpacked(stream, most_bytes)));
    return { variables: dotenvIn(content, { most_variables: dotenv_variables }) };
  } catch (error) {
    if (error instanceof LimitExceeded) throw badRequest(largeDotenvText(most_bytes));
    if (error instanceof InvalidContent) throw badRequest('Invalid Format');
    throw error instanceof InvalidDotenv ? badRequest(error.message) : error;
  }
}

function read(services: Place, job: RunningJob, { file_type, file_format, file }: SentArtifact): Promise<Read> | Read {
  if (file_type === 'archive') return checkArchive(services, file);
  if (file_format !== 'gzip') return {};
  if (file_type === 'junit') return readTests(services, job, file);
  return file_type === 'dotenv' ? readDotenv(services, file) : {};
}

/** The end of a file in seconds from now; null if it has none. */
async function lifetimeOf(db: Database, expire_in: string | undefined): Promise<number | null> {
  if (expire_in === 'never') return null;
  const text = expire_in ?? (await settingsOf(db)).default_artifacts_expire_in;
  return durationOf(text) || null;
}

/** Who may read the files of a job, as its configuration says. */
async function accessibilityOf(tx: Database, job_id: number): Promise<Accessibility> {
  const { rows } = await sql<{ access: Accessibility | null }>`
    select definition #>> '{job,artifacts,access}' as access from job_definitions where job_id = ${job_id}`.execute(tx);
  return rows[0]?.access ?? 'all';
}

/** @throws ApiError 403 if the job has ended meanwhile */
async function lockRunning(tx: Database, job_id: number): Promise<void> {
  const row = await tx
    .selectFrom('commit_statuses')
    .select('id')
    .where('id', '=', job_id)
    .where('status', 'in', ['running', 'canceling'])
    .forShare()
    .executeTakeFirst();
  if (!row) throw forbidden(notRunningText);
}

/** @returns the id; undefined if the job left the same file before. @throws ApiError 409 for another one of the type */
async function insertArtifact(tx: Database, job: RunningJob, sent: SentArtifact): Promise<number | undefined> {
  const { file_type, file_format, file, expire_in } = sent;
  const seconds = await lifetimeOf(tx, expire_in);
  const expire_at = seconds === null ? null : sql<string>`now() + make_interval(secs => ${seconds})`;
  const { size_bytes, sha256, key, name } = file;
  const added = await tx
    .insertInto('job_artifacts')
    .values({
      ...{ job_id: job.id, project_id: job.project_id, file_type, file_format, size_bytes, sha256 },
      ...{ filename: name, blob_key: key, expire_at, look_at: expire_at },
      accessibility: await accessibilityOf(tx, job.id),
    })
    .onConflict((conflict) => conflict.columns(['job_id', 'file_type']).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (added) return added.id;
  const known = await tx
    .selectFrom('job_artifacts')
    .select('sha256')
    .where('job_id', '=', job.id)
    .where('file_type', '=', file_type)
    .executeTakeFirst();
  if (known?.sha256 !== sha256) throw new ApiError(409, { message: takenText });
  return undefined;
}

/** Stores what a report says beside it. */
async function keepRead(
  tx: Database,
  { secrets }: Place,
  { job_id, artifact_id }: { job_id: number; artifact_id: number },
  { suite, variables = [] }: Read,
): Promise<void> {
  if (suite)
    await tx
      .insertInto('job_test_suites')
      .values({ artifact_id, ...suite })
      .execute();
  const rows = variables.map(({ key, value }) => ({ job_id, key, value: secrets.seal('dotenv variable', value) }));
  if (rows.length > 0) await tx.insertInto('job_dotenv_variables').values(rows).execute();
}

/**
 * Stores a file of a job that runs. A file that is refused leaves nothing.
 * @throws ApiError 400 for an archive or a list of variables that cannot be read, 403 if the job has ended, 409 if another file of its type is there
 */
export async function storeArtifact(services: Place, job: RunningJob, sent: SentArtifact): Promise<void> {
  const { db } = services;
  const { file } = sent;
  await storeBlob(db, file);
  let isUsed = false;
  try {
    const found = await read(services, job, sent);
    isUsed = await repeated(db, async (tx) => {
      await lockRunning(tx, job.id);
      const id = await insertArtifact(tx, job, sent);
      if (id === undefined) return false;
      await useBlob(tx, file.key);
      await keepRead(tx, services, { job_id: job.id, artifact_id: id }, found);
      return true;
    });
  } finally {
    if (!isUsed) await removeUnusedBlob(services, file.key);
  }
}
