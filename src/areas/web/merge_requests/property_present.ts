/** The controls with which the properties of a merge request are changed. */
import type { Field, PageCall } from '../../../pages/index.ts';
import { asBoxes, commonReaders, peopleChoices, peopleField } from '../issuables/field_present.ts';
import { changedProperty, choiceSearched } from '../issuables/property_views.ts';
import type { ShownMergeRequest } from './views.ts';

/** The controls of the property that the address of the page names; undefined if it names none. */
export async function changingFields(
  call: Pick<PageCall, 'list' | 'perhaps' | 'query' | 'caller'>,
  merge_request: ShownMergeRequest,
): Promise<readonly Field[] | undefined> {
  const [name, search] = [changedProperty(call.query), choiceSearched(call.query)];
  if (name === undefined || !call.caller) return undefined;
  if (name !== 'reviewers') return commonReaders(name)?.(call, merge_request, search);
  const people = await peopleChoices(call, merge_request.reviewers, search);
  return asBoxes([peopleField('reviewer_ids', 'Reviewers', { people }, merge_request.reviewers)]);
}
