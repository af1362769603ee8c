/** The interface of audit events to other districts. */
export { audit } from './actions.ts';
export {
  type AuditedNoun,
  auditedNoun,
  eachMember,
} from './definition.ts';
export { auditTriggers, tableList } from './trigger_rules.ts';
