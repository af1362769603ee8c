/** Jobs that runners hold, and the files that they send. */
import { hash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Database } from '../../src/db/index.ts';
import type { World } from './world.ts';
import { zipOf } from './zip.ts';

let tokens = 0;

/**
 * Hands a job to a runner.
 * @returns the token of the job
 */
export async function held(db: Database, job_id: number): Promise<string> {
  const token = `glcbt-${'t'.repeat(20)}${++tokens}-${job_id}`;
  await db.updateTable('commit_statuses').set({ status: 'running' }).where('id', '=', job_id).execute();
  await db
    .insertInto('job_runs')
    .values({
      job_id,
      token_digest: Buffer.from(hash('sha256', token), 'hex'),
      can_cancel_gracefully: true,
      timeout_s: 3600,
    })
    .execute();
  return token;
}

export interface Sending {
  /** Parameters in the query, as the official runner sends them. */
  query?: Record<string, string>;
  /** Parameters as parts of the body. */
  before?: Record<string, string>;
  after?: Record<string, string>;
  name?: string;
}

/** Sends a file of a job as a runner does. */
export async function sendFile(
  { url }: Pick<World, 'url'>,
  { id, token }: { id: number; token: string },
  content: Uint8Array<ArrayBuffer> | string,
  { query = {}, before = {}, after = {}, name = 'artifacts.zip' }: Sending = {},
): Promise<{ status: number; body: { message: unknown } }> {
  const body = new FormData();
  for (const [key, value] of Object.entries(before)) body.append(key, value);
  body.append('file', new Blob([content]), name);
  for (const [key, value] of Object.entries(after)) body.append(key, value);
  const answer = await fetch(`${url}/api/v4/jobs/${id}/artifacts?${new URLSearchParams(query)}`, {
    method: 'POST',
    body,
    headers: { 'job-token': token },
  });
  return { status: answer.status, body: (await answer.json()) as { message: unknown } };
}

/** Bytes of a zip, as a body. */
export const zipped = (...files: Parameters<typeof zipOf>): Uint8Array<ArrayBuffer> => new Uint8Array(zipOf(...files));

/** Bytes of texts, each compressed for itself. */
export const gzipped = (...texts: string[]): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.concat(texts.map((text) => gzipSync(text))));

/** Parameters of a report. */
export const report = (artifact_type: string): Sending => ({
  query: { artifact_type, artifact_format: 'gzip' },
  name: `${artifact_type}.gz`,
});

/** Lets a job leave an archive and the results of its tests, and succeed. */
export async function leaveFiles(here: World, id: number): Promise<void> {
  const { db } = here;
  const job = { id, token: await held(db, id) };
  const tests =
    '<testsuite><testcase name="peels"/><testcase name="picks"><failure>Too high</failure></testcase></testsuite>';
  const sent = [
    await sendFile(here, job, zipped({ 'out/apple.txt': 'an apple' })),
    await sendFile(here, job, gzipped(tests), report('junit')),
  ];
  if (sent.some(({ status }) => status !== 201)) throw new Error(`A file was refused: ${JSON.stringify(sent)}`);
  await db.updateTable('commit_statuses').set({ status: 'success' }).where('id', '=', id).execute();
  await db.updateTable('job_runs').set({ ended_at: new Date().toISOString() }).where('job_id', '=', id).execute();
}
