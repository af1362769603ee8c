/** Exports of the relations of a project or group, for migrations (docs/reference/relations_export.md). */
import { Type } from 'typebox';
import {
  type AnyEndpoint,
  ApiError,
  accepted,
  alias,
  allOrNoneOf,
  badRequest,
  capitalized,
  fileReply,
  get,
  listOf,
  optional,
  post,
  type Services,
  storedFile,
} from '../../../http/index.ts';
import { exporter, turnedOff } from './access.ts';
import { startExports } from './actions.ts';
import { type ExportOwner, states } from './definition.ts';
import { ExportStatus, presentStatus } from './present.ts';
import { type ExportFile, exportFile, exportNamed, exportStatuses } from './queries.ts';
import { relationsOf } from './relation_definition.ts';
import { fileName } from './rules.ts';

const unknown = 'Export not found';
const noBatch = 'Batch not found';
const noFile = 'Export file not found';
const missing = (message: string) => new ApiError(404, { message });

interface Wanted {
  relation: string;
  /** The number of the batch; undefined for the whole relation. */
  batch_number: number | undefined;
}

/**
 * The complete file of a relation or batch.
 * @throws ApiError with the reason why there is none
 */
async function fileOf(db: Services['db'], user_id: number, owner: ExportOwner, { relation, batch_number }: Wanted) {
  const found = await exportNamed(db, user_id, owner, relation);
  if (!found) throw missing(unknown);
  if (found.batched !== (batch_number !== undefined))
    throw badRequest(`Export is ${found.batched ? '' : 'not '}batched`);
  if ((batch_number ?? 0) > found.batches_count) throw missing(noBatch);
  const file = await exportFile(db, found.id, batch_number ?? 0);
  if (!file) throw missing(batch_number === undefined ? noFile : noBatch);
  return completeFile(file);
}

/** @throws ApiError 404 */
function completeFile({ status, blob_key: key, size_bytes, sha256: etag }: ExportFile) {
  if (status === states.failed || key === null || size_bytes === null || etag === null) throw missing(noFile);
  return { key, size_bytes, etag };
}

function routesOf(kind: ExportOwner['kind']): AnyEndpoint[] {
  const base = `/${kind}s/:id/export_relations`;
  const Noun = capitalized(kind);
  const relations = relationsOf[kind];
  const access = exporter[kind];
  const statuses = get(`${base}/status`, {
    operation: `list${Noun}RelationExports`,
    summary: `Show the state of the caller's exports of a ${kind}, by relation`,
    access,
    input: { relation: optional(Type.String({ description: 'Only this one' })) },
    returns: listOf(ExportStatus),
    refusals: { 404: [turnedOff, unknown] },
    handle: async ({ db, caller, owner, input: { relation } }) => {
      const rows = await exportStatuses(db, caller.id, owner, relation);
      if (relation !== undefined && rows.length === 0) throw missing(unknown);
      return rows.map(presentStatus);
    },
  });
  return [
    post(base, {
      operation: `start${Noun}RelationExports`,
      summary: `Export all relations of a ${kind}, for its migration`,
      description:
        'The files are written in the background, and can be downloaded for 24 hours by the user who asked for them.',
      access,
      input: {
        batched: Type.Boolean({ default: false, description: 'Whether large relations are split into batches' }),
      },
      returns: accepted,
      refusals: { 404: turnedOff },
      rate: { setting: 'relation_export_requests_limit', window_s: 60 },
      handle: ({ db, caller, owner, input }) => startExports(db, caller.id, owner, input.batched),
    }),
    statuses,
    alias(statuses, { path: base }),
    get(`${base}/download`, {
      operation: `download${Noun}RelationExport`,
      summary: `Download the export of a relation of a ${kind}, or a batch of it`,
      access,
      input: {
        relation: Type.Enum(relations.map(({ name }) => name)),
        batched: optional(Type.Boolean({ description: 'Whether a batch is downloaded' })),
        batch_number: optional(Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, description: 'From 1' })),
      },
      rules: [allOrNoneOf('batched', 'batch_number')],
      returns: storedFile(['application/gzip'], {
        'Content-Disposition': 'The name of the file, to save it',
        'Content-Range': 'The part that was requested',
      }),
      refusals: {
        400: ['Export is not batched', 'Export is batched'],
        404: [turnedOff, unknown, noBatch, noFile],
        416: '416 Range Not Satisfiable',
      },
      handle: async ({ db, blobs, caller, owner, reading, input: { relation, batched, batch_number } }) => {
        const file = await fileOf(db, caller.id, owner, { relation, batch_number: batched ? batch_number : undefined });
        const named = relations.find(({ name }) => name === relation)!;
        return fileReply(blobs, file, reading, {
          'content-type': 'application/gzip',
          'content-disposition': `attachment; filename="${fileName(named)}"`,
        });
      },
    }),
  ];
}

export const relationExportRoutes = [...routesOf('project'), ...routesOf('group')];
