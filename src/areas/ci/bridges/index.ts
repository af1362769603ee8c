/** The interface of bridges to other districts. */
export { cancelChild, followPipelines, moveBridges, startBridge } from './jobs.ts';
