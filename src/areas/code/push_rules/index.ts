/** What other areas may use of push rules. */
export { copyTemplate } from './actions.ts';
export { firstCommitRefusals, largeFileRefusals, pushRuleRefusals } from './checks.ts';
export { pushRules } from './relation.ts';
export { pushRuleTexts } from './rules.ts';
