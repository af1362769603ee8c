/** Files of jobs: downloading, browsing, keeping and deleting them (docs/reference/job_artifacts.md). */
import path from 'node:path';
import { Type } from 'typebox';
import { projectRole } from '../../../access/index.ts';
import {
  type AnyEndpoint,
  accepted,
  bytes,
  del,
  fileReply,
  found,
  get,
  Id,
  nothing,
  one,
  optional,
  pageOf,
  post,
  type Reading,
  type Services,
  storedFile,
  withStatus,
} from '../../../http/index.ts';
import { numberedPaging, pageOfArray } from '../../../lists/index.ts';
import { mediaType, mediaTypes } from '../../../markdown/index.ts';
import { Job, jobReply } from '../../code/jobs/index.ts';
import { pipelinesReader } from '../../code/pipelines/index.ts';
import { disposition } from '../../code/repository/index.ts';
import { jobIn } from '../running/queries.ts';
import { eraseArtifacts, keepArtifacts } from './actions.ts';
import { removeProjectArtifacts } from './jobs.ts';
import { ArtifactEntry } from './present.ts';
import { type Artifact, archiveOf, latestJob } from './queries.ts';
import { badPath, fileIn, folderIn, tooLargeText, tooManyText } from './zip_queries.ts';

const ofJob = '/projects/:id/jobs/:job_id/artifacts';
const ofRef = '/projects/:id/jobs/artifacts/:ref_name';
const single = { job_id: Id };
const named = {
  ref_name: Type.String({ description: 'Branch or tag' }),
  job: Type.String({ description: 'The name of the job', minLength: 1 }),
  search_recent_successful_pipelines: Type.Boolean({
    default: false,
    description: 'Whether earlier pipelines that succeeded are looked at, too, if the latest has no such job',
  }),
};
const inside = { artifact_path: Type.String({ description: 'Of a file in the archive' }) };
const lost = { 404: '404 Not found' };
const headers = { 'Content-Disposition': 'The name of the file, to save it' };
const sent = { ...headers, 'Content-Range': 'The part that was requested' };
const [developer, maintainer] = (['developer', 'maintainer'] as const).map((role) =>
  projectRole(role, { feature: ['repository', 'builds'] }),
) as [ReturnType<typeof projectRole>, ReturnType<typeof projectRole>];

const uncached = { 'cache-control': 'max-age=0, private, must-revalidate' };

const download = ({ blobs }: Pick<Services, 'blobs'>, artifact: Artifact, reading: Reading) =>
  fileReply(blobs, { key: artifact.blob_key, size_bytes: artifact.size_bytes, etag: artifact.sha256 }, reading, {
    'content-type': 'application/zip',
    'content-disposition': disposition('attachment', artifact.filename),
    ...uncached,
  });

/** A file of an archive, always to be saved: what a job wrote is never shown as a page of this server. */
async function fileOf(services: Pick<Services, 'blobs'>, artifact: Artifact, file: string) {
  const { size_bytes, body } = await fileIn(services, artifact, file);
  const name = path.posix.basename(file);
  return {
    body,
    headers: {
      'content-type': mediaType(name),
      'content-length': String(size_bytes),
      'content-disposition': disposition('attachment', name),
      ...uncached,
    },
  };
}

const reading: AnyEndpoint[] = [
  get(ofJob, {
    operation: 'getJobArtifacts',
    summary: 'Download the archive of a job',
    access: pipelinesReader,
    input: single,
    returns: storedFile(['application/zip'], sent),
    refusals: { ...lost, 416: '416 Range Not Satisfiable' },
    handle: async ({ db, blobs, project, input, reading: asked }) =>
      download({ blobs }, await archiveOf(db, project, input.job_id), asked),
  }),
  get(`${ofJob}/tree`, {
    operation: 'listJobArtifactTree',
    summary: 'List what is in the archive of a job',
    access: pipelinesReader,
    input: {
      ...single,
      path: optional(Type.String({ description: 'Folder; default: the top' })),
      recursive: Type.Boolean({ default: false, description: 'Whether folders are listed with what is in them' }),
      ...numberedPaging,
    },
    returns: pageOf(ArtifactEntry),
    refusals: { ...lost, 400: badPath, 413: tooManyText },
    handle: async ({ db, blobs, project, input }) => {
      const artifact = await archiveOf(db, project, input.job_id);
      const asked = { folder: input.path ?? '', is_recursive: input.recursive };
      return pageOfArray(await folderIn({ blobs }, artifact, asked), input);
    },
  }),
  get(`${ofJob}/*artifact_path`, {
    operation: 'getJobArtifactFile',
    summary: 'Download a file in the archive of a job',
    access: pipelinesReader,
    input: { ...single, ...inside },
    returns: bytes(mediaTypes, headers),
    refusals: { ...lost, 400: [badPath, tooLargeText] },
    handle: async ({ db, blobs, project, input }) =>
      fileOf({ blobs }, await archiveOf(db, project, input.job_id), input.artifact_path),
  }),
  get(`${ofRef}/download`, {
    operation: 'getLatestJobArtifacts',
    summary: 'Download the archive of a job in the latest pipeline of a branch or tag that succeeded',
    access: pipelinesReader,
    input: named,
    returns: storedFile(['application/zip'], sent),
    refusals: { ...lost, 416: '416 Range Not Satisfiable' },
    handle: async ({ db, blobs, project, input, reading: asked }) => {
      const { ref_name: ref, job, search_recent_successful_pipelines: search } = input;
      const id = await latestJob(db, project, { ref, job, search });
      return download({ blobs }, await archiveOf(db, project, id), asked);
    },
  }),
  get(`${ofRef}/raw/*artifact_path`, {
    operation: 'getLatestJobArtifactFile',
    summary: 'Download a file in the archive of a job in the latest pipeline of a branch or tag that succeeded',
    access: pipelinesReader,
    input: { ...named, ...inside },
    returns: bytes(mediaTypes, headers),
    refusals: { ...lost, 400: [badPath, tooLargeText] },
    handle: async ({ db, blobs, project, input }) => {
      const { ref_name: ref, job, search_recent_successful_pipelines: search } = input;
      const id = await latestJob(db, project, { ref, job, search });
      return fileOf({ blobs }, await archiveOf(db, project, id), input.artifact_path);
    },
  }),
];

const changing: AnyEndpoint[] = [
  post(`${ofJob}/keep`, {
    operation: 'keepJobArtifacts',
    summary: 'Keep the files of a job without an end',
    access: developer,
    input: single,
    returns: withStatus(200, one(Job)),
    refusals: lost,
    handle: async ({ project, input, ...services }) => {
      await keepArtifacts(services.db, project.id, input.job_id);
      return jobReply(services, project, input.job_id);
    },
  }),
  del(ofJob, {
    operation: 'deleteJobArtifacts',
    summary: 'Delete the files of a job',
    access: maintainer,
    input: single,
    returns: nothing,
    refusals: { 404: '404 Job Not Found' },
    handle: async ({ db, project, input }) => {
      const job = found('Job', await jobIn(db, project.id, input.job_id));
      await db.transaction().execute((tx) => eraseArtifacts(tx, [job.id]));
    },
  }),
  del('/projects/:id/artifacts', {
    operation: 'deleteProjectArtifacts',
    summary: 'Delete the files of all jobs whose pipelines have ended, except for those that are kept as the latest',
    access: maintainer,
    returns: accepted,
    handle: async ({ db, project }) =>
      removeProjectArtifacts.enqueue(db, { project_id: project.id }, { key: String(project.id) }),
  }),
];

export const artifactRoutes: readonly AnyEndpoint[] = [...reading, ...changing];
