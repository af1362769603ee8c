/** The interface of custom attributes to other districts. */
export { attributeFilters, attributeForm, attributeMember, showAttributes, withAttributes } from './queries.ts';
export { customAttributes } from './relation.ts';
