/** The interface of nodes to other districts, and to the commands. */
export { addNode, markerOf, type NewNode, removeNode, setMarker, showNode } from './actions.ts';
export { nodes } from './queries.ts';
