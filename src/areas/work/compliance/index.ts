/** The interface of compliance to other districts. */
export type { ComplianceStatus } from './present.ts';
