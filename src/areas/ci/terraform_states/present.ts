/** How states of Terraform appear in replies (docs/reference/terraform_states.md). */
import { Type } from 'typebox';
import { Id, nullable, resource, Timestamp } from '../../../http/index.ts';

export const TerraformState = resource('TerraformState', {
  name: Type.String(),
  serial: nullable(Type.Integer({ description: 'Of the newest version; null while there is none' })),
  size: nullable(Type.Integer({ description: 'In bytes' })),
  locked_by: nullable(Type.String({ description: 'A username' })),
  lock: nullable(Type.Record(Type.String(), Type.Unknown(), { description: 'What the client said that locked it' })),
  updated_at: Timestamp,
  job_id: nullable(Id),
});
