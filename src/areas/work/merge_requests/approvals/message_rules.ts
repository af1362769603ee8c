/** What the bot of security policies writes on a merge request (docs/reference/security_policies.md#messages). Pure functions. */
import { counted } from '../../../../texts/index.ts';
import type { RuleState } from './demand_rules.ts';

const given = 'All approvals that security policies ask for are given.';
const none = 'No security policy asks for approvals of this merge request.';

/** What somebody has written, as text in Markdown. */
const asText = (text: string): string => text.replaceAll(/[\\`*_{}[\]()#+!|<>@&~$:/-]/g, '\\$&');

function paragraphOf({ policy, approvals_left }: RuleState): string {
  const reasons = policy!.reasons.map((reason) => `  - ${asText(reason)}`);
  return [`- **${asText(policy!.name)}** asks for ${counted(approvals_left, 'more approval')}.`, ...reasons].join('\n');
}

/**
 * The message about the policies that want one.
 * @param has_note whether there is one already
 * @returns undefined if there is nothing to say
 */
export function messageOf(in_effect: readonly RuleState[], has_note: boolean): string | undefined {
  const told = in_effect.filter(({ policy }) => policy?.tells);
  const missing = told.filter(({ approvals_left }) => approvals_left > 0);
  if (missing.length > 0)
    return ['**Security policies ask for approvals of this merge request.**', '', ...missing.map(paragraphOf)].join(
      '\n',
    );
  if (!has_note) return undefined;
  return told.some(({ approvals_required }) => approvals_required > 0) ? given : none;
}
