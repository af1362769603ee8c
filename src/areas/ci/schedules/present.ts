/** How schedules appear in replies (docs/reference/pipeline_schedules.md). */
import { type Static, Type } from 'typebox';
import { AnyJson, Id, nullable, optional, resource, Timestamp } from '../../../http/index.ts';
import { presentUserBasic, UserBasic, type UserBasicRow } from '../../people/users/index.ts';
import { PipelineVariable } from '../running/parameters.ts';

const fields = {
  id: Id,
  description: Type.String(),
  ref: Type.String({ description: 'The full name of the branch or tag' }),
  cron: Type.String(),
  cron_timezone: Type.String(),
  next_run_at: nullable(Timestamp),
  active: Type.Boolean(),
  created_at: Timestamp,
  updated_at: Timestamp,
  owner: UserBasic,
  inputs: Type.Array(
    Type.Object({ name: Type.String(), value: AnyJson('Of an input that the configuration declares') }),
  ),
};

const LastPipeline = Type.Object({
  id: Id,
  iid: Type.Integer(),
  sha: Type.String(),
  ref: Type.String(),
  status: Type.String(),
});

export const PipelineSchedule = resource('PipelineSchedule', fields);
export const PipelineScheduleDetail = resource('PipelineScheduleDetail', {
  ...fields,
  last_pipeline: nullable(LastPipeline),
  variables: optional(Type.Array(PipelineVariable, { description: 'For the owner and Maintainers' })),
});

export interface ScheduleRow extends Omit<Static<typeof PipelineSchedule>, 'owner' | 'inputs'> {
  owner: UserBasicRow;
  inputs: unknown;
}

/** @param url the external address of the server */
export const presentSchedule = (
  url: string,
  { owner, inputs, ...row }: ScheduleRow,
): Static<typeof PipelineSchedule> => ({
  ...row,
  owner: presentUserBasic(url, owner),
  inputs: Object.entries(inputs as Record<string, unknown>).map(([name, value]) => ({ name, value })),
});
