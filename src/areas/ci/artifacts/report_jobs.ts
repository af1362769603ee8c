/** Bills of materials and findings of jobs join those of their project (docs/reference/dependencies.md#reports-of-jobs, docs/reference/vulnerabilities.md#reports-of-jobs). */
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { sql } from 'kysely';
import type { BlobKey } from '../../../blobs/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';
import { findingsIn } from '../../../security_reports/index.ts';
import { type Report, replaceReports } from '../../code/dependencies/index.ts';
import type { FoundByJob } from '../../code/vulnerabilities/index.ts';
import { takenReports, takeReportsQueue } from '../running/process_actions.ts';
import { isThere } from './queries.ts';

/** A larger report says nothing. */
const maximumReport_bytes = 20 * 1024 * 1024;

interface Left {
  job_id: number;
  file_type: string;
  name: string;
  filename: string;
  sha256: string;
  size_bytes: number;
  blob_key: BlobKey;
}

/** The reports of the current jobs of a pipeline, if it is the newest of the default branch that has succeeded. */
async function leftIn(db: Database, pipeline_id: number): Promise<{ project_id: number; left: Left[] } | undefined> {
  const { rows } = await sql<{ project_id: number; left: Left[] }>`
    select pipelines.project_id, coalesce((
             select json_agg(json_build_object('job_id', job.id, 'file_type', file_type, 'name', job.name, 'filename', filename, 'sha256', sha256, 'size_bytes', size_bytes, 'blob_key', blob_key) order by job.id, file_type)
               from commit_statuses job join job_artifacts on job_artifacts.job_id = job.id and file_type = any(${[...takenReports]})
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

/** The bills of materials of one report, numbered from the second one on. */
function* billsOf({ job_id, name, filename, sha256 }: Left, documents: readonly string[]): Generator<Report> {
  const title = `${name}/${filename.replace(/\.gz$/, '')}`;
  for (const [index, text] of documents.entries())
    yield {
      job_id,
      path: index === 0 ? title : `${title} (${index + 1})`,
      digest: `${sha256} ${index}`,
      bytes: Buffer.from(text),
    };
}

async function* reportsIn(
  { blobs, project_id, signal }: Pick<Services, 'blobs'> & { project_id: number; signal: AbortSignal },
  left: readonly Left[],
): AsyncGenerator<Report | FoundByJob> {
  for (const report of left) {
    const { job_id, file_type: report_type, sha256, blob_key, size_bytes } = report;
    const content = size_bytes > maximumReport_bytes ? undefined : await blobs.read(blob_key);
    if (!content) continue;
    const bytes = await buffer(content);
    if (report_type === 'cyclonedx') {
      yield* billsOf(report, (await unpacked(bytes)).toString().split(between));
      continue;
    }
    const work = { owner: project_id, content: `${report_type} ${sha256}`, signal };
    const { findings, bills } = await findingsIn({ bytes, report_type }, work);
    yield { job_id, report_type, findings };
    yield* billsOf(report, bills);
  }
}

/** Enqueued when a pipeline has succeeded. */
export const takeReports = takeReportsQueue.runBy(async ({ db, blobs, input: { pipeline_id }, signal }) => {
  const found = await leftIn(db, pipeline_id);
  if (found) {
    const { project_id, left } = found;
    await replaceReports({ db, signal }, project_id, reportsIn({ blobs, project_id, signal }, left));
  }
});
