/** States of Terraform: what the server reads of them, the long ones in a thread. */
export { stateIn } from './reading.ts';
export { readState } from './serials.ts';
