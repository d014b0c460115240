package org.opensearch.protobufs;

/** What the node looks for in k-NN's gRPC converter, and no more. */
public final class QueryContainer {
    public enum QueryContainerCase {
        KNN
    }
}
