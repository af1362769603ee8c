/** What a new issue or merge request begins with (docs/reference/templates.md#issues-and-merge-requests). */
import { type PageCall, textIn } from '../../../pages/index.ts';
import { AnyTemplate } from '../../code/templates/index.ts';

/** The name of the template that is used without being chosen. */
const usual = 'Default';

/**
 * The text of the template that the address names in `issuable_template`; without one, what the project has set, or its default template.
 * @param setting what the project has set
 */
export async function offeredText(
  call: PageCall,
  type: 'issues' | 'merge_requests',
  setting: string | null | undefined,
): Promise<string | undefined> {
  const chosen = textIn(call.query, 'issuable_template');
  if (chosen === undefined && setting) return setting;
  const template = await call.perhaps(call.one(AnyTemplate, 'getProjectTemplate', { type, name: chosen ?? usual }));
  return template?.content;
}
