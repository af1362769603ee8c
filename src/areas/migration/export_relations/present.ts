/** How exports appear in responses. */
import { type Static, Type } from 'typebox';
import { nullable, optional, resource, Timestamp } from '../../../http/index.ts';
import type { ExportStatus as Row } from './queries.ts';

const Status = Type.Enum([0, 1, -1], { description: '0 started, 1 finished, -1 failed' });
const ErrorName = nullable(Type.String({ description: 'Why it has failed, e.g. `PermissionDenied`' }));
const Count = (description: string) => Type.Integer({ minimum: 0, description });

export const ExportStatus = resource('RelationExportStatus', {
  relation: Type.String(),
  status: Status,
  error: ErrorName,
  updated_at: Timestamp,
  batched: Type.Boolean({ description: 'Whether the relation was split into batches' }),
  batches_count: Count('0 when it is not batched'),
  total_objects_count: Count('How many objects have been written'),
  batches: optional(
    Type.Array(
      Type.Object({
        batch_number: Type.Integer({ minimum: 1 }),
        status: Status,
        objects_count: Count('How many objects it holds'),
        error: ErrorName,
        updated_at: Timestamp,
      }),
      { description: 'Only when it is batched' },
    ),
  ),
});

/** Only a batched export has the field `batches`. */
export const presentStatus = ({ batches, ...row }: Row): Static<typeof ExportStatus> => ({
  ...row,
  ...(batches && { batches }),
});
