package org.opensearch.transport.grpc.spi;

/** k-NN names it in its classes; the module that has it is not published, and nothing here speaks gRPC. */
public interface QueryBuilderProtoConverter {}
