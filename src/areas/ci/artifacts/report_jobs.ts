/** Bills of materials of jobs join the dependencies of their project (docs/reference/dependencies.md#reports-of-jobs). */
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { sql } from 'kysely';
import type { BlobKey } from '../../../blobs/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';
import { type Report, replaceReports } from '../../code/dependencies/index.ts';
import { takeReportsQueue } from '../running/process_actions.ts';
import { isThere } from './queries.ts';

/** A larger report says nothing. */
const maximumReport_bytes = 20 * 1024 * 1024;

interface Left {
  job_id: number;
  name: string;
  filename: string;
  sha256: string;
  blob_key: BlobKey;
}

/** The bills of materials of the current jobs of a pipeline, if it is the newest of the default branch that has succeeded. */
async function leftIn(db: Database, pipeline_id: number): Promise<{ project_id: number; left: Left[] } | undefined> {
  const { rows } = await sql<{ project_id: number; left: Left[] }>`
    select pipelines.project_id, coalesce((
             select json_agg(json_build_object('job_id', job.id, 'name', job.name, 'filename', filename, 'sha256', sha256, 'blob_key', blob_key) order by job.id)
               from commit_statuses job join job_artifacts on job_artifacts.job_id = job.id and file_type = 'cyclonedx'
              where job.pipeline_id = pipelines.id and not job.retried and ${isThere}), '[]') as left
      from pipelines join projects on projects.id = pipelines.project_id
     where pipelines.id = ${pipeline_id} and pipelines.status = 'success' and not pipelines.tag and pipelines.ref = projects.default_branch
       and not exists (select from pipelines newer
                        where newer.project_id = pipelines.project_id and newer.ref = pipelines.ref and not newer.tag and newer.id > pipelines.id
                          and newer.status = 'success' and newer.source not in ('parent_pipeline', 'external'))`.execute(
    db,
  );
  return rows[0];
}

/** Where one document ends and the next one begins: a runner sends all files of a report as one. */
const between = /(?<=\})\s*(?=\{\s*"(?:\$schema|bomFormat|specVersion)")/;

const unpacked = (bytes: Buffer): Promise<Buffer> =>
  promisify(gunzip)(bytes, { maxOutputLength: maximumReport_bytes }).catch(() => Buffer.alloc(0));

async function* reportsIn({ blobs }: Pick<Services, 'blobs'>, left: readonly Left[]): AsyncGenerator<Report> {
  for (const { job_id, name, filename, sha256, blob_key } of left) {
    const content = await blobs.read(blob_key);
    if (!content) continue;
    const documents = (await unpacked(await buffer(content))).toString().split(between);
    const title = `${name}/${filename.replace(/\.gz$/, '')}`;
    for (const [index, text] of documents.entries())
      yield {
        job_id,
        path: index === 0 ? title : `${title} (${index + 1})`,
        digest: `${sha256} ${index}`,
        bytes: Buffer.from(text),
      };
  }
}

/** Enqueued when a pipeline has succeeded. */
export const takeReports = takeReportsQueue.runBy(async ({ db, blobs, input: { pipeline_id }, signal }) => {
  const found = await leftIn(db, pipeline_id);
  if (found) await replaceReports({ db, signal }, found.project_id, reportsIn({ blobs }, found.left));
});
