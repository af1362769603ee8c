/** Release endpoints for web pages only: the evidence, whose URL the API returns. */
import { releaseCodeReader } from '../../../access/index.ts';
import { bytes, found, get, Id } from '../../../http/index.ts';
import { releaseNamed } from './queries.ts';
import { path, TagName } from './routes.ts';

export const releaseEvidenceRoute = get(`${path}/:tag_name/evidences/:evidence_id`, {
  operation: 'readReleaseEvidence',
  summary: 'Read an evidence of a release as it is stored',
  access: releaseCodeReader,
  input: { tag_name: TagName, evidence_id: Id },
  returns: bytes(['application/json']),
  handle: async ({ db, project, input }) => {
    const { id } = await releaseNamed(db, project.id, input.tag_name);
    const row = await db
      .selectFrom('release_evidences')
      .select('summary')
      .where('release_id', '=', id)
      .where('id', '=', input.evidence_id)
      .executeTakeFirst();
    const { summary } = found(undefined, row);
    return { body: Buffer.from(summary), headers: { 'content-type': 'application/json' } };
  },
});
