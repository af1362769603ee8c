/** The controls with which the properties of an issue are changed. */
import type { Static } from 'typebox';
import { controlsOf } from '../../../fields/index.ts';
import type { Field, PageCall } from '../../../pages/index.ts';
import { Iteration } from '../../planning/iterations/index.ts';
import { Epic } from '../../work/epics/index.ts';
import { type Issue, issueFields } from '../../work/issues/index.ts';
import { commonReaders } from '../issuables/field_present.ts';
import { pathIn } from '../issuables/present.ts';
import { changedProperty, choiceSearched } from '../issuables/property_views.ts';

type ShownIssue = Static<typeof Issue>;
export type Iterations = readonly Static<typeof Iteration>[];

/** The iterations to which an issue can be added; none where there are no iterations. */
export async function iterationsToChoose({ list, perhaps }: Pick<PageCall, 'list' | 'perhaps'>): Promise<Iterations> {
  const found = await perhaps(list(Iteration, 'listProjectIterations', { per_page: 100, state: 'opened' }));
  return found?.items ?? [];
}

const namedIteration = ({ title, start_date, due_date }: Static<typeof Iteration>) =>
  `${title ?? ''} ${start_date} – ${due_date}`.trim();

/** The iterations to choose from, with that of the issue; none if there are none. */
export function iterationOptions({ iteration }: ShownIssue, iterations: Iterations) {
  const known = iteration && !iterations.some(({ id }) => id === iteration.id) ? [iteration] : [];
  const offered = [...known, ...iterations].map((each) => ({ value: each.id, label: namedIteration(each) }));
  return offered.length > 0 ? [{ value: 0, label: 'None' }, ...offered] : [];
}

/** The epics to choose from: the open ones of the group and of those above it. */
async function epicField(
  { list, perhaps, query }: Pick<PageCall, 'list' | 'perhaps' | 'query'>,
  { epic, references }: ShownIssue,
): Promise<Field> {
  const search = choiceSearched(query);
  const asked = { id: pathIn(references.full).replace(/\/[^/]*$/, ''), state: 'opened', include_ancestor_groups: true };
  const found = await perhaps(list(Epic, 'listEpics', { ...asked, per_page: 100, ...(search && { search }) }));
  const offered = (found?.items ?? []).map(({ id, title }) => ({ value: id, label: title }));
  const own = epic && !offered.some(({ value }) => value === epic.id) ? [{ value: epic.id, label: epic.title }] : [];
  return {
    name: 'epic_id',
    label: 'Epic',
    kind: 'select',
    value: epic?.id ?? 0,
    options: [{ value: 0, label: 'None' }, ...own, ...offered],
  };
}

/** The controls of the property that the address of the page names; undefined if it names none that the plan has. */
export async function changingFields(
  call: Pick<PageCall, 'list' | 'perhaps' | 'query' | 'caller'>,
  issue: ShownIssue,
): Promise<readonly Field[] | undefined> {
  const name = changedProperty(call.query);
  if (name === undefined || !call.caller) return undefined;
  const read = commonReaders(name);
  if (read) return read(call, issue, choiceSearched(call.query));
  if (name === 'epic_id') return [await epicField(call, issue)];
  const controls = controlsOf(issueFields, {
    is_new: false,
    plan: call.caller.plan,
    values: { ...issue, iteration_id: issue.iteration?.id ?? 0 },
    options: name === 'iteration_id' ? { iteration_id: iterationOptions(issue, await iterationsToChoose(call)) } : {},
  });
  const control = controls.find((each) => each.name === name);
  return control && [control];
}
