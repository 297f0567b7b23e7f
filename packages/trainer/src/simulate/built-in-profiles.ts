import clusterFast from "./profiles/cluster-fast.json" with { type: "json" };
import clusterMedium from "./profiles/cluster-medium.json" with { type: "json" };
import clusterSlow from "./profiles/cluster-slow.json" with { type: "json" };
import cpu48K80 from "./profiles/cpu48-k80.json" with { type: "json" };
import cpu48V100 from "./profiles/cpu48-v100.json" with { type: "json" };
import failing from "./profiles/failing.json" with { type: "json" };
import fourV100 from "./profiles/four-v100.json" with { type: "json" };
import { checkProfile, type Profile } from "./profile.js";

const documents = [fourV100, cpu48K80, cpu48V100, clusterSlow, clusterMedium, clusterFast, failing];

/** The profiles that come with the package, by name. All of their numbers are assumptions. */
export const builtInProfiles: Readonly<Record<string, Profile>> = Object.fromEntries(
  documents.map((document) => [document.name, checkProfile(document, document.name)]),
);
