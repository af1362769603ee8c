/** Every step of a migration. */
import { arriving, type Relation } from '../../../relations/index.ts';
import { lfsStep, uploadsStep } from './archive_actions.ts';
import type { EntityType } from './definition.ts';
import { inStep, record } from './journal_actions.ts';
import { exportOf, exportStep, isExport } from './source/export_queries.ts';
import { fallbacks } from './source/fallback_queries.ts';
import type { Step, StepFailure } from './step_definition.ts';
import { childrenStep } from './steps/children_actions.ts';
import { forkStep } from './steps/fork_actions.ts';
import { leftStep } from './steps/left_actions.ts';
import { membersStep } from './steps/member_actions.ts';
import { archivedStep, numbersStep, othersStep } from './steps/number_actions.ts';
import { sourcePeople } from './steps/people_actions.ts';
import { groupStep, projectStep } from './steps/place_actions.ts';
import { referencesStep } from './steps/reference_actions.ts';
import { relationStep } from './steps/relation_actions.ts';
import { repositoryStep } from './steps/repository_actions.ts';
import { snippetRepositoriesStep } from './steps/snippet_actions.ts';
import { wikiStep } from './steps/wiki_actions.ts';

/** The imported relations, by kind of entity. */
export type Relations = Readonly<Record<EntityType, readonly Relation[]>>;

const own = [
  exportStep,
  repositoryStep,
  uploadsStep,
  lfsStep,
  wikiStep,
  snippetRepositoriesStep,
  referencesStep,
  archivedStep,
  relationStep(sourcePeople),
  groupStep,
  projectStep,
  membersStep,
  childrenStep,
  forkStep,
  leftStep,
  numbersStep,
  othersStep,
];

/** A relation that cannot be imported: its records are counted, and it is reported once. */
const unsupported = (name: string): Step => ({
  name,
  async run(call) {
    const exported = await exportOf(call, name);
    if (!isExport(exported)) return exported;
    const failure: StepFailure = {
      relation: name,
      step: 'loader',
      exception_class: 'NotSupported',
      title: null,
      url: null,
      message: `There are no ${name.replaceAll('_', ' ')} here.`,
    };
    const failures = exported.total > 0 ? [failure] : [];
    await inStep(call.db, call.step.id, (tx, row) => record(tx, call, row, { source: exported.total, failures }));
    return 'finished';
  },
});

/** @returns a function that finds a step by its name */
export function stepsOf(relations: Relations): (type: EntityType, name: string) => Step {
  const ofType = (type: EntityType) => {
    const steps = [
      ...own,
      ...relations[type].map((relation) => relationStep(arriving(relation), fallbacks[type][relation.name])),
    ];
    return new Map(steps.map((step) => [step.name, step]));
  };
  const steps = { group: ofType('group'), project: ofType('project') };
  return (type, name) => steps[type].get(name) ?? unsupported(name);
}
