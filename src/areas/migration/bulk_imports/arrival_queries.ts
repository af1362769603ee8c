/** Where the records of an entity arrive, and who their people are here. */
import type { Arrival } from '../../../relations/index.ts';
import { ghostUser } from '../../people/users/index.ts';
import { ownerOf, type StepCall } from './step_definition.ts';

/** @throws StepFailed when the group or project has been deleted */
export async function arrivalOf(call: StepCall): Promise<Arrival> {
  const { entity, migration } = call;
  const ghost_id = await ghostUser(call);
  return {
    owner: ownerOf(entity),
    importer_id: migration.user_id,
    entity_id: entity.id,
    ghost_id,
    people: async (_tx, source_ids) => new Map(source_ids.map((id) => [id, ghost_id])),
    text: (text) => text,
  };
}
