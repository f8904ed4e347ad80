export default {
  v1: {
    input: "v1.json",
    output: { target: "generated/v1.ts", schemas: "generated/model", client: "fetch", mode: "split" },
  },
};
