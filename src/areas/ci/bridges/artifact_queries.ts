/** Configurations that jobs have made (docs/reference/ci_configuration.md#bridges). */
import { buffer } from 'node:stream/consumers';
import { ApiError, type Services } from '../../../http/index.ts';
import { artifactIn } from '../artifacts/queries.ts';
import { fileIn } from '../artifacts/zip_queries.ts';
import { type ArtifactReader, maximumFile_bytes } from '../configuration/reading_git.ts';

/** Reads files out of what the jobs of a pipeline have left. */
export const artifactReader =
  (services: Pick<Services, 'db' | 'blobs'>, pipeline_id: number): ArtifactReader =>
  async ({ job, path }) => {
    const row = await services.db
      .selectFrom('commit_statuses')
      .select('id')
      .where('pipeline_id', '=', pipeline_id)
      .where('name', '=', job)
      .where('kind', '=', 'job')
      .where('retried', '=', false)
      .executeTakeFirst();
    const artifact = row && (await artifactIn(services.db, row.id, 'archive'));
    if (!artifact) return { refused: 'job_missing' };
    try {
      const { size_bytes, body } = await fileIn(services, artifact, path);
      if (size_bytes > maximumFile_bytes) {
        body.destroy();
        return { refused: 'too_big' };
      }
      return { content: (await buffer(body)).toString() };
    } catch (error) {
      if (error instanceof ApiError) return { refused: 'file_missing' };
      throw error;
    }
  };
