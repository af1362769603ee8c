/** What other areas may use of custom attributes. */
export { attributeFilters, attributeForm, attributeMember, showAttributes, withAttributes } from './queries.ts';
export { customAttributes } from './relation.ts';
