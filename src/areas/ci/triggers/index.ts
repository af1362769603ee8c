/** The interface of triggers to other districts. */
export { triggerDoors, triggerDoorway } from './http.ts';
