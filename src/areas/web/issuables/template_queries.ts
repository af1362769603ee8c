/** The initial text of a new issue or merge request (docs/reference/templates.md#issues-and-merge-requests). */
import { type PageCall, textIn } from '../../../pages/index.ts';
import { AnyTemplate } from '../../code/templates/index.ts';

/** The name of the template that is used by default. */
const usual = 'Default';

/**
 * The text of the template in the query parameter `issuable_template`; if omitted, the text in the project's settings,
 * or its default template.
 * @param setting the text in the project's settings
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
