/** Experiments: changes that only some people meet, to see whether they are any good. */
import { type Static, Type } from 'typebox';
import { teamMember } from '../../../access/index.ts';
import { badRequest, get, listOf, resource } from '../../../http/index.ts';
import { DefinitionOfExperiment, keyOf } from './definition.ts';
import { definitions } from './definitions/index.ts';
import { Gate, gatesFrom, listOfGates, placeOf, stateOf } from './gate_rules.ts';
import { gatesOf } from './queries.ts';

const Experiment = resource('Experiment', {
  key: Type.String(),
  definition: DefinitionOfExperiment,
  current_status: Type.Object({
    state: Type.Enum(['on', 'off', 'conditional']),
    gates: Type.Array(Gate),
  }),
});

/** Who was in an experiment must stay in it, so that places may never change. */
const placesAreKept = () => placeOf('self_test', 'User:1') === 40 && placeOf('self_test', 'Project:2') === 68;

/** @throws ApiError 400 when the answer could not be relied on: gates that cannot be read, or places that are not what they were */
function present(gates: Awaited<ReturnType<typeof gatesOf>>): Static<typeof Experiment>[] {
  try {
    if (!placesAreKept()) throw new Error('places have changed');
    return definitions.map((definition) => {
      const own = gatesFrom(gates.get(definition.name) ?? []);
      return { key: keyOf(definition), definition, current_status: { state: stateOf(own), gates: listOfGates(own) } };
    });
  } catch {
    throw badRequest('400 Bad request - experimentation may not be working right now');
  }
}

export const experimentRoutes = [
  get('/experiments', {
    operation: 'listExperiments',
    summary: 'List experiments with their state, by name',
    access: teamMember,
    returns: listOf(Experiment),
    refusals: { 400: '400 Bad request - experimentation may not be working right now' },
    handle: async ({ db }) =>
      present(
        await gatesOf(
          db,
          definitions.map(({ name }) => name),
        ),
      ),
  }),
];
