/** The definition of an experiment. Its gates decide which actors of an installation it is on for. */
import { type Static, Type } from 'typebox';
import { resource } from '../../../http/index.ts';

export const DefinitionOfExperiment = resource('ExperimentDefinition', {
  name: Type.String({ pattern: '^[a-z][a-z0-9_]{0,254}$' }),
  introduced_by_url: Type.String({ minLength: 1, description: 'Path or URL of the introducing change' }),
  rollout_issue_url: Type.String({ minLength: 1, description: 'Path or URL of the rollout issue' }),
  milestone: Type.String({ pattern: '^\\d+\\.\\d+$', description: 'The version that introduced it' }),
  type: Type.Literal('experiment'),
  group: Type.String({ pattern: '^group::[a-z_ ]+$', description: 'The group that owns it' }),
  // An experiment is off until an administrator switches it on.
  default_enabled: Type.Literal(false),
});
export type Definition = Static<typeof DefinitionOfExperiment>;

/** The name under which an experiment is listed (docs/reference/experiments.md). */
export const keyOf = ({ name }: Pick<Definition, 'name'>): string => name.replace(/_experiment_percentage$/, '');
