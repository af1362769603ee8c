/** Experiments: changes shown only to some users, to find out whether they are an improvement. */
import { type Static, Type } from 'typebox';
import { teamMember } from '../../../access/index.ts';
import { badRequest, get, offeredOn, pageOf, resource } from '../../../http/index.ts';
import { numberedPaging, pageOfArray } from '../../../lists/index.ts';
import { DefinitionOfExperiment, keyOf } from './definition.ts';
import { definitions } from './definitions/index.ts';
import { bucketOf, Gate, gatesFrom, listOfGates, stateOf } from './gate_rules.ts';
import { gatesOf } from './queries.ts';

const Experiment = resource('Experiment', {
  key: Type.String(),
  definition: DefinitionOfExperiment,
  current_status: Type.Object({
    state: Type.Enum(['on', 'off', 'conditional']),
    gates: Type.Array(Gate),
  }),
});

/** Actors must stay in their experiments, so their buckets must never change. */
const bucketsAreStable = () => bucketOf('self_test', 'User:1') === 40 && bucketOf('self_test', 'Project:2') === 68;

/** @throws ApiError 400 when the answer would be unreliable: gates cannot be read, or buckets have changed */
function present(gates: Awaited<ReturnType<typeof gatesOf>>): Static<typeof Experiment>[] {
  try {
    if (!bucketsAreStable()) throw new Error('buckets have changed');
    return definitions.map((definition) => {
      const own = gatesFrom(gates.get(definition.name) ?? []);
      return { key: keyOf(definition), definition, current_status: { state: stateOf(own), gates: listOfGates(own) } };
    });
  } catch {
    throw badRequest('400 Bad request - experimentation may not be working right now');
  }
}

export const experimentRoutes = offeredOn(
  ['hosted'],
  [
    get('/experiments', {
      operation: 'listExperiments',
      summary: 'List experiments with their state, by name',
      access: teamMember,
      input: numberedPaging,
      returns: pageOf(Experiment),
      refusals: { 400: '400 Bad request - experimentation may not be working right now' },
      handle: async ({ db, input }) => {
        const names = definitions.map(({ name }) => name);
        return pageOfArray(present(await gatesOf(db, names)), input);
      },
    }),
  ],
);
