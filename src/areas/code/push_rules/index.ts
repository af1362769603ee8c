/** The interface of push rules to other districts. */
export { copyTemplate } from './actions.ts';
export { firstCommitRefusals } from './checks.ts';
export { pushRules } from './relation.ts';
export { pushRuleTexts } from './rules.ts';
